# SPDX-License-Identifier: BSD-3-Clause
"""SASS, the machine code of NVIDIA's GPUs, as nvdisasm prints it: kernels, their blocks, and loops through them."""
import heapq
import re


class Kernel:
    def __init__(self):
        self.code, self.labels, self.registers = [], {}, 0

    def operations(self, blocks=None):
        """The names of the instructions of some blocks, or of all."""
        lines = self.code if blocks is None else [line for begin, end in blocks for line in self.code[begin:end]]
        return [re.sub(r"^@!?U?P\w+\s+", "", line).split()[0] for line in lines]

    def flow(self):
        """Blocks of code that run from begin to end, and which ones may follow each."""
        ends = re.compile(r"(BRA|EXIT|RET|BRX)\b")
        starts = {0, *self.labels.values(), *(i + 1 for i, name in enumerate(self.operations()) if ends.match(name))}
        starts = sorted(start for start in starts if start < len(self.code))
        blocks = list(zip(starts, [*starts[1:], len(self.code)]))
        number = {begin: n for n, (begin, _) in enumerate(blocks)}
        after = []
        for n, (_, end) in enumerate(blocks):
            line = self.code[end - 1]
            name = self.operations([(end - 1, end)])[0]
            follows = []
            if label := re.search(r"BRA.*`\((\S+)\)", line):
                follows.append(number[self.labels[label[1]]])
            is_conditional = line.startswith("@") or re.search(r"BRA\S*\s+[^`\s]", line)
            if (is_conditional or not ends.match(name)) and n + 1 < len(blocks):
                follows.append(n + 1)
            after.append(follows)
        return blocks, after

    def loop(self, start):
        """The shortest way from a block back to it, as blocks; [] if there is none."""
        blocks, after = self.flow()
        number = blocks.index(start)
        size = [end - begin for begin, end in blocks]
        best, before, queue = {}, {}, [(0, number)]
        while queue:
            length, block = heapq.heappop(queue)
            for next_block in after[block]:
                through = length + size[next_block]
                if through < best.get(next_block, 1 << 30):
                    best[next_block], before[next_block] = through, block
                    heapq.heappush(queue, (through, next_block))
        if number not in best:
            return []
        way = [number]
        while (block := before[way[-1]]) != number:
            way.append(block)
        return [blocks[block] for block in way]

    def blocks_with(self, pattern, least):
        """Blocks with so many instructions of this name."""
        return [block for block in self.flow()[0]
                if sum(bool(re.match(pattern, name)) for name in self.operations([block])) >= least]


def read(text):
    kernels, kernel = {}, None
    for line in text.splitlines():
        if section := re.match(r"^\s+\.section\s+(\.text\.)?(\w+)", line):
            kernel = kernels.setdefault(section[2], Kernel()) if section[1] else None
        elif kernel and (registers := re.search(r"SHI_REGISTERS=(\d+)", line)):
            kernel.registers = int(registers[1])
        elif kernel and (label := re.match(r"^(\.L\S+):", line)):
            kernel.labels[label[1]] = len(kernel.code)
        elif kernel and (code := re.match(r"^\s+/\*[0-9a-f]{4,6}\*/\s+(.*?)\s*;", line)):
            kernel.code.append(code[1])
    return kernels
