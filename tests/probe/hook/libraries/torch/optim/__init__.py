from .optimizer import Optimizer


class SGD(Optimizer):
    def work(self):
        return 'stepped'
