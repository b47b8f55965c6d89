def fetch(dataset, item):
    return dataset[item]
