// Runs four migrations at once and prints the peak memory: four.ts SOURCE_PORT DESTINATION_PORT
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { accountOn, ours } from './ours.ts'

const [source, destination] = process.argv.slice(2).map(Number) as [number, number]
const from = accountOn(source, 'source')
await Promise.all(
  ['a', 'b', 'c', 'd'].map(async (user) =>
    ours(from, accountOn(destination, user), createMemoryJournal()),
  ),
)
console.log(
  `four migrations at once: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB resident at most`,
)
