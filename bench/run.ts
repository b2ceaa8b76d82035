// `npm run bench [-- room …]`: runs the benchmarks of these rooms, or all, and prints their tables.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A benchmark is a file bench/<room>/<name>.ts that exports `run(): Promise<string>`; programs beside it begin when imported. */
type Benchmark = { run: () => Promise<string> }
const isBenchmark = (file: string) => /^export (?:async )?function run\b/m.test(readFileSync(file, 'utf8'))

const wanted = process.argv.slice(2)
const instances = [...new Set(globSync('*/*.ts', { cwd: import.meta.dirname }).map((file) => file.split('/')[0] ?? ''))]
const unknown = wanted.filter((portreeve) => !instances.includes(portreeve))
if (unknown.length > 0) {
  console.error(`There is no benchmark “${unknown.join(', ')}”: take ${instances.join(', ')}.`)
  process.exit(2)
}
for (const portreeve of wanted.length > 0 ? wanted : instances) {
  const files = globSync(join(import.meta.dirname, portreeve, '*.ts'))
    .filter(isBenchmark)
    .toSorted()
  for (const file of files) {
    const { run } = (await import(file)) as Benchmark
    console.log(`\n# ${portreeve}/${basename(file)}\n`)
    console.log(await run())
  }
}
