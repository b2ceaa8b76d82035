import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The flags of the messages of an MH folder, whose names are numbers, from the sequences that its
 * `.mh_sequences` lists: `unseen: 3 7-9`.
 */
export function createMhFlags(folder: string): (name: string) => { flags?: string[] } {
  const file = join(folder, '.mh_sequences')
  if (!existsSync(file)) return () => ({})
  const lines = readFileSync(file, 'latin1').split('\n')
  const sequence = (name: string) => {
    const line = lines.find((each) => each.startsWith(`${name}:`)) ?? ''
    const ranges = [...line.matchAll(/(\d+)(?:-(\d+))?/g)]
    return (number: number) =>
      ranges.some(([, from, to = from]) => Number(from) <= number && number <= Number(to))
  }
  const [isUnseen, isFlagged, isReplied] = [
    sequence('unseen'),
    sequence('flagged'),
    sequence('replied'),
  ]
  return (name) => {
    if (!/^\d+$/.test(name)) return {}
    const number = Number(name)
    return {
      flags: [
        ...(isUnseen(number) ? [] : ['\\Seen']),
        ...(isFlagged(number) ? ['\\Flagged'] : []),
        ...(isReplied(number) ? ['\\Answered'] : []),
      ],
    }
  }
}
