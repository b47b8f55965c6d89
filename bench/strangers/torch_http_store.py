"""Fetches each sample from an HTTP server that answers late.

environment: vision; cause: user function, storage
"""
import http.server
import threading
import time
import urllib.request

import torch
from torch.utils.data import DataLoader, Dataset
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(3 * 32 * 32))

    def log_message(self, *_):
        pass


class Remote(Dataset):
    def __init__(self, port):
        self.url = f'http://127.0.0.1:{port}/'

    def __len__(self):
        return 900

    def __getitem__(self, index):
        with urllib.request.urlopen(self.url + str(index)) as answer:  # planted
            data = bytearray(answer.read())
        return torch.frombuffer(data, dtype=torch.uint8).float().view(3, 32, 32), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    loader = DataLoader(Remote(server.server_port), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
