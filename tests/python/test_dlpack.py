"""Arrays of a batch for other libraries: the protocol of DLPack, and when their memory is let go of."""
import ctypes
import gc
import pathlib
import threading

import numpy as np
import recpack_io
from recpack_io import _core
from support import main
from test_loading import Loading

HERE = pathlib.Path(__file__).parent
COPIED = 2


class Tensor(ctypes.Structure):
    """DLTensor of https://github.com/dmlc/dlpack, include/dlpack/dlpack.h."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32),
                ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8),
                ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


class Unversioned(ctypes.Structure):
    """DLManagedTensor."""
    _fields_ = [('tensor', Tensor), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32),
                ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p),
                ('flags', ctypes.c_uint64), ('tensor', Tensor)]


FORMS = {b'dltensor': Unversioned, b'dltensor_versioned': Versioned}


def name_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


def managed_of(capsule):
    """What is in it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = name_of(capsule)
    return FORMS[name].from_address(get(capsule, name))


USED = {name: b'used_' + name for name in FORMS}  # a capsule does not copy its name


def take(capsule):
    """Takes what is in it, as a consumer does: returns the address and the deleter's."""
    managed = managed_of(capsule)
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    rename(capsule, USED[name_of(capsule)])
    return ctypes.addressof(managed), managed.deleter


class Given:
    """An array as another library would give it."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


class Dlpack(Loading):
    def setUp(self):
        super().setUp()
        self.own = self.loader()
        self.batch = next(iter(self.own))
        self.array = self.batch.dlpack('image')

    def held(self):
        gc.collect()
        return self.own.stats()['held']

    def let_go(self):
        """Leaves only what a test took from the array."""
        del self.batch, self.array

    def test_what_a_capsule_says(self):
        image = self.batch['image']
        for asked, name, version in ((None, b'dltensor', None), ((0, 8), b'dltensor', None),
                                     ((1, 0), b'dltensor_versioned', (1, 0)),
                                     ((1, 3), b'dltensor_versioned', (1, 0)),
                                     ((2, 0), b'dltensor_versioned', (1, 0))):
            capsule = self.array.__dlpack__(max_version=asked)
            self.assertEqual(name_of(capsule), name)
            managed = managed_of(capsule)
            if version:
                self.assertEqual((managed.major, managed.minor, managed.flags), (*version, 0))
            tensor = managed.tensor
            self.assertEqual((tensor.data, tensor.device_type, tensor.device_id,
                              tensor.byte_offset), (image.ctypes.data, 1, 0, 0))
            self.assertEqual((tensor.code, tensor.bits, tensor.lanes), (2, 32, 1))
            self.assertEqual(tensor.shape[:tensor.ndim], [*image.shape])
            self.assertEqual(tensor.strides[:tensor.ndim], [each // 4 for each in image.strides])
        self.assertEqual(self.array.__dlpack_device__(), (1, 0))

    def test_types(self):
        for kind, expected in ('u8', (1, 8)), ('f16', (2, 16)), ('bf16', (4, 16)), ('f32', (2, 32)):
            fields = recpack_io.recipe('cifar10-train', type=kind)
            batch = next(iter(self.loader(recipe=None, fields=fields)))
            capsule = batch.dlpack('image').__dlpack__()
            tensor = managed_of(capsule).tensor
            self.assertEqual((tensor.code, tensor.bits), expected)
        capsule = self.batch.dlpack('label').__dlpack__()
        tensor = managed_of(capsule).tensor
        self.assertEqual((tensor.code, tensor.bits, tensor.shape[:tensor.ndim]), (0, 64, [8]))
        with self.assertRaises(KeyError):
            self.batch.dlpack('picture')

    def test_both_versions_in_numpy(self):
        image = self.batch['image']
        for version in None, (1, 0):
            there = np.from_dlpack(Given(self.array.__dlpack__(max_version=version)))
            np.testing.assert_array_equal(there, image)
            self.assertEqual(there.ctypes.data, image.ctypes.data)
        self.assertEqual(np.from_dlpack(self.array).ctypes.data, image.ctypes.data)

    def test_a_capsule_that_nobody_takes(self):
        for version in None, (1, 0):
            capsules = [self.array.__dlpack__(max_version=version) for _ in range(3)]
            self.assertEqual(self.held(), 1)
            del capsules
        capsule = self.array.__dlpack__()
        self.let_go()
        self.assertEqual(self.held(), 1)
        del capsule
        self.assertEqual(self.held(), 0)

    def test_a_capsule_is_taken_once(self):
        for version in None, (1, 0):
            given = Given(self.array.__dlpack__(max_version=version))
            image = np.from_dlpack(given)
            with self.assertRaises(ValueError):
                np.from_dlpack(given)
            np.testing.assert_array_equal(image, self.batch['image'])
            del given
            np.testing.assert_array_equal(image, self.batch['image'])
        self.let_go()
        self.assertEqual(self.held(), 1)
        del image
        self.assertEqual(self.held(), 0)

    def test_copies(self):
        image = self.batch['image'].copy()
        there = self.batch['image'].ctypes.data
        for version, flags in ((None, None), ((1, 0), COPIED)):
            capsule = self.array.__dlpack__(max_version=version, copy=True)
            managed = managed_of(capsule)
            if flags is not None:
                self.assertEqual(managed.flags, flags)
            self.assertNotEqual(managed.tensor.data, there)
            np.testing.assert_array_equal(np.from_dlpack(Given(capsule)), image)
        for copy in None, False:
            capsule = self.array.__dlpack__(copy=copy)
            self.assertEqual(managed_of(capsule).tensor.data, there)
        capsule = self.array.__dlpack__(copy=True)
        self.let_go()
        del managed
        self.assertEqual(self.held(), 0)
        np.testing.assert_array_equal(np.from_dlpack(Given(capsule)), image)

    def test_arguments(self):
        for stream in None, -1, 1:
            self.assertEqual(name_of(self.array.__dlpack__(stream=stream)), b'dltensor')
        self.assertEqual(name_of(self.array.__dlpack__(dl_device=(1, 0))), b'dltensor')
        with self.assertRaisesRegex(BufferError, r'unsupported dl_device \(2, 0\).*host memory'):
            self.array.__dlpack__(dl_device=(2, 0))
        for wrong in ({'max_version': 1}, {'max_version': ('1', '0')}, {'dl_device': 'cpu'},
                      {'copy': 'yes'}, {'device': (1, 0)}):
            with self.assertRaises(TypeError):
                self.array.__dlpack__(**wrong)
        with self.assertRaises(TypeError):
            self.array.__dlpack__(None)
        with self.assertRaises(TypeError):
            _core.Array()
        with self.assertRaises(BufferError):
            memoryview(_core.Array.__new__(_core.Array))

    def test_buffers(self):
        view, there = memoryview(self.array), np.asarray(self.array)
        self.assertEqual((view.format, view.shape), ('f', self.batch['image'].shape))
        self.assertEqual(there.ctypes.data, self.batch['image'].ctypes.data)
        del there
        self.let_go()
        self.assertEqual(self.held(), 1)
        view.release()
        self.assertEqual(self.held(), 0)

    def test_released_by_threads_of_python(self):
        capsules = [self.array.__dlpack__(max_version=(1, 0)) for _ in range(64)]
        self.let_go()

        def release():
            while capsules:
                try:
                    capsules.pop()
                except IndexError:
                    pass
        threads = [threading.Thread(target=release) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.held(), 0)


TAKEN = '''
import ast, ctypes, gc, os
sys.path.append(sys.argv[2])
from test_dlpack import take
version = ast.literal_eval(sys.argv[3])
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8)
managed, deleter = take(next(iter(loader)).dlpack("image").__dlpack__(max_version=version))
def held():
    gc.collect()
    return loader.stats()["held"]
before = held()
'''


class WithoutInterpreter(Loading):
    """The deleter of a consumer's tensor, called where Python cannot be."""

    def run_with(self, text):
        for version in None, (1, 0):
            done = self.script(TAKEN + text, HERE, version)
            self.assertEqual((done.stderr, done.returncode), ('', 0))
            yield done.stdout.split()

    def test_on_a_thread_of_c_while_python_is_locked(self):
        for said in self.run_with('''
with_lock = ctypes.PyDLL(None)  # calls without unlocking the interpreter
thread = ctypes.c_ulong()
address = ctypes.c_void_p
with_lock.pthread_create(ctypes.byref(thread), None, address(deleter), address(managed))
with_lock.pthread_join(thread, None)
print(before, held())'''):
            self.assertEqual(said, ['1', '0'])

    def test_after_the_interpreter(self):
        for said in self.run_with('''
address = ctypes.c_void_p
ctypes.CDLL(None).__cxa_atexit(address(deleter), address(managed), None)
print(before, held())'''):
            self.assertEqual(said, ['1', '1'])

    def test_in_a_forked_child(self):
        for said in self.run_with('''
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of Python from 3.12 on, that other threads are there
child = os.fork()
if child == 0:
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)
    sys.exit(7)  # with all that an interpreter does at its end
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
after = held()
ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(managed)
print(status, before, after, held())'''):
            self.assertEqual(said, ['7', '1', '1', '0'])

    def test_a_program_that_ends_with_all_of_its_arrays(self):
        done = self.script('''
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8)
import numpy as np
held = [(batch, batch["image"], np.from_dlpack(batch.dlpack("label")), batch.dlpack("image"),
         memoryview(batch.dlpack("image")), batch.dlpack("image").__dlpack__()) for batch in loader]
raise RuntimeError("of the program")''')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], 'RuntimeError: of the program')


if __name__ == '__main__':
    main()
