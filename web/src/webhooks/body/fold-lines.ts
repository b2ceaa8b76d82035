import type { Line } from './format-json.ts'

/** The objects and arrays on several lines: the line that opens each, and the one that closes it. */
export function findBlocks(lines: readonly Line[]): Map<number, number> {
  const blocks = new Map<number, number>()
  const open: number[] = []
  lines.forEach(({ tokens }, index) => {
    const [first] = tokens
    const last = tokens.at(-1)
    if (first?.kind === 'mark' && (first.text === '}' || first.text === ']')) {
      const start = open.pop()
      if (start !== undefined) blocks.set(start, index)
    }
    if (last?.kind === 'mark' && (last.text === '{' || last.text === '[')) open.push(index)
  })
  return blocks
}

/** The lines that are shown: without those within folded blocks, and without their last lines. */
export function visibleLines(
  count: number,
  blocks: ReadonlyMap<number, number>,
  folded: ReadonlySet<number>,
): number[] {
  const visible: number[] = []
  for (let index = 0; index < count; index++) {
    visible.push(index)
    if (folded.has(index)) index = blocks.get(index) ?? index
  }
  return visible
}
