// `npm run bench [-- room …]`: runs the benchmarks of these rooms, or all, and prints their tables.
import { globSync } from 'node:fs'
import { join } from 'node:path'

/** A benchmark is a file bench/<room>/<name>.ts that exports `run(): Promise<string>`. */
type Benchmark = { run?: () => Promise<string> }

const wanted = process.argv.slice(2)
const rooms = [...new Set(globSync('*/*.ts', { cwd: import.meta.dirname }).map((file) => file.split('/')[0] ?? ''))]
const unknown = wanted.filter((room) => !rooms.includes(room))
if (unknown.length > 0) {
  console.error(`There is no benchmark “${unknown.join(', ')}”: take ${rooms.join(', ')}.`)
  process.exit(2)
}
for (const room of wanted.length > 0 ? wanted : rooms) {
  for (const file of globSync(`${room}/*.ts`, { cwd: import.meta.dirname }).toSorted()) {
    const { run } = (await import(join(import.meta.dirname, file))) as Benchmark
    if (!run) continue
    console.log(`\n# ${file}\n`)
    console.log(await run())
  }
}
