"""Subscriptions and readings drawn from one stream of numbers, the same on every runtime."""


def draw(vector: bytearray, row: bytearray, x: int, k: int, head: int, step: int) -> int:
    """Write a subscription with k constraints and a row that lies near them; return the stream's next
    number.
    """
    for i in range(17):
        x = (x * 1021 + 7919) % 1048573
        vector[i] = x >> 12
    for i in range(6, 6 + 3 * k, 3):
        if vector[i] > vector[i + 1]:
            vector[i], vector[i + 1] = vector[i + 1], vector[i]
        row[i // 3 - 2] = vector[i] + (x >> 15) & 255
    vector[5] = vector[5] & 112 | head
    vector[6 + 3 * k] = 1 << (step & 1)
    vector[7 + 3 * k] = 131 if k > 2 and x > 700000 else (4, 6, 7)[k - 1]
    return x
