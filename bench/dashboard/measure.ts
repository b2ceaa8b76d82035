// Measures pages of a running dashboard with Lighthouse for phones and prints a Markdown table:
// node bench/dashboard/measure.ts --url http://localhost:8080 --email E --password P /home /check
// Without paths, it measures every page, with the first object of each kind that the account has.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { allPages, signIn } from './pages.ts'

const run = promisify(execFile)

/** The version with which the table of bench/dashboard.md was measured. */
const LIGHTHOUSE = 'lighthouse@13.5.0'

/** Milliseconds after which a page counts as loaded: its event stream stays open. */
const MAX_LOAD_MS = 6_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    email: { type: 'string' },
    password: { type: 'string' },
    runs: { type: 'string', default: '3' },
    chrome: { type: 'string', default: '/usr/bin/chromium-headless-shell' },
    /** An installed Lighthouse, instead of the one that npx downloads. */
    lighthouse: { type: 'string' },
  },
})

type Audit = {
  displayValue?: string
  numericValue?: number
  score: number | null
  details?: { items?: { node?: { selector?: string } }[] }
}
type Report = {
  categories: { performance: { score: number } }
  audits: Record<string, Audit>
}

async function measure(path: string, folder: string): Promise<Report> {
  const file = join(folder, 'report.json')
  const [command, first] = values.lighthouse
    ? [values.lighthouse, []]
    : ['npx', ['--yes', LIGHTHOUSE]]
  await run(
    command,
    [
      ...first,
      new URL(path, values.url).href,
      '--quiet',
      '--chrome-flags=--headless --no-sandbox',
      '--only-categories=performance',
      `--max-wait-for-load=${MAX_LOAD_MS}`,
      `--extra-headers=${join(folder, 'headers.json')}`,
      '--output=json',
      `--output-path=${file}`,
    ],
    { env: { ...process.env, CHROME_PATH: values.chrome } },
  )
  return JSON.parse(await readFile(file, 'utf8')) as Report
}

const median = (numbers: number[]) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN

/** One row: the medians of all runs. */
function row(path: string, reports: Report[]): string {
  const value = (name: string) =>
    median(reports.map(({ audits }) => audits[name]?.numericValue ?? NaN))
  return `| ${[
    `\`${path}\``,
    Math.round(median(reports.map(({ categories }) => categories.performance.score)) * 100),
    Math.round(value('total-blocking-time')),
    (value('largest-contentful-paint') / 1_000).toFixed(1),
    value('cumulative-layout-shift').toFixed(3),
    Math.round(value('total-byte-weight') / 1_000),
  ].join(' | ')} |`
}

const folder = await mkdtemp(join(tmpdir(), 'portreeve-lighthouse-'))
try {
  const cookie = await signIn(values)
  await writeFile(join(folder, 'headers.json'), JSON.stringify(cookie ? { Cookie: cookie } : {}))
  console.log('| page | score | blocking, ms | LCP, s | CLS | loaded, kB |')
  console.log('| --- | --- | --- | --- | --- | --- |')
  const paths = positionals.length > 0 ? positionals : await allPages(values.url, cookie)
  for (const path of paths) {
    const reports: Report[] = []
    for (let turn = 0; turn < Number(values.runs); turn++) {
      try {
        reports.push(await measure(path, folder))
      } catch (error) {
        // Lighthouse loses a page now and then; the others are still measured.
        console.error(`${path} was not measured: ${(error as Error).message.split('\n')[1]}`)
      }
    }
    if (reports.length > 0) console.log(row(path, reports))
  }
} finally {
  await rm(folder, { recursive: true })
}
