// `npm run imapsync`: writes the tables of docs/imapsync.md from the options.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formattedMarkdown } from './formatted.ts'
import { OPTION_GROUPS, type Option } from '../src/cli/imapsync/options.ts'
import { EXIT_VALUES } from '../src/cli/imapsync/exit-values.ts'
import { ROOT } from './run.ts'

const PAGE = join('docs', 'imapsync.md')
const START = '<!-- options: written by `npm run imapsync` -->'
const END = '<!-- /options -->'

/** docs/imapsync.md as it must be. */
export async function imapsyncPage(): Promise<string> {
  const page = readFileSync(join(ROOT, PAGE), 'utf8')
  const [before, rest] = page.split(START)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no ${START}`)
  const groups = Object.entries<Readonly<Record<string, Option>>>(OPTION_GROUPS)
  const sections = groups.map(
    ([name, options]) => `### ${name}\n\n| option | effect |\n|---|---|\n${rowsOf(options)}`,
  )
  const codes = Object.values(EXIT_VALUES).map(
    ([code, name, error]) => `| ${code} | \`${name}\` | ${error === '' ? '' : `\`${error}\``} |`,
  )
  const exits = `### Exit codes\n\n| code | name | error |\n|---|---|---|\n${codes.join('\n')}`
  return formattedMarkdown(
    `${before}${START}\n\n${[...sections, exits].join('\n\n')}\n\n${END}${after}`,
  )
}

/** Options with the same effect share a row. */
function rowsOf(options: Readonly<Record<string, Option>>): string {
  const byEffect = Map.groupBy(Object.entries(options), ([, { summary }]) => summary)
  return [...byEffect]
    .map(
      ([summary, all]) => `| ${all.map(nameOf).join(', ')} | ${summary.replaceAll('|', '\\|')} |`,
    )
    .join('\n')
}

function nameOf([name, { value, aliases = [], multiple }]: [string, Option]): string {
  const names = [name, ...aliases].map((spelling) => `--${spelling}`).join('`, `')
  return `\`${names}${value === undefined ? '' : ` ${value}`}\`${multiple ? ' (repeatable)' : ''}`
}

if (import.meta.main) writeFileSync(join(ROOT, PAGE), await imapsyncPage())
