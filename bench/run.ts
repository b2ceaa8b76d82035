// `npm run bench [-- module …]`: runs the benchmarks of these modules, or all, and prints their
// tables.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * A benchmark is a file bench/<module>/<name>.ts that exports `run(): Promise<string>`; programs
 * beside it begin when imported.
 */
type Benchmark = { run: () => Promise<string> }
const isBenchmark = (file: string) =>
  /^export (?:async )?function run\b/m.test(readFileSync(file, 'utf8'))

const wanted = process.argv.slice(2)
const modules = [
  ...new Set(
    globSync('*/*.ts', { cwd: import.meta.dirname }).map((file) => file.split('/')[0] ?? ''),
  ),
]
const unknown = wanted.filter((module) => !modules.includes(module))
if (unknown.length > 0) {
  console.error(`Benchmark not found: “${unknown.join(', ')}”. Available: ${modules.join(', ')}.`)
  process.exit(2)
}
for (const module of wanted.length > 0 ? wanted : modules) {
  const files = globSync(join(import.meta.dirname, module, '*.ts'))
    .filter(isBenchmark)
    .toSorted()
  for (const file of files) {
    const { run } = (await import(file)) as Benchmark
    console.log(`\n# ${module}/${basename(file)}\n`)
    console.log(await run())
  }
}
