// `npm run imapsync`: writes docs/imapsync-options.md from the options.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formattedMarkdown, generatedBy } from './formatted.ts'
import { OPTION_GROUPS, type Option } from '../src/cli/imapsync/imapsync-options.ts'
import { EXIT_VALUES } from '../src/cli/imapsync/exit-values.ts'
import { ROOT } from './run.ts'

const PAGE = join('docs', 'imapsync-options.md')

/** docs/imapsync-options.md as it must be. */
export function imapsyncPage(): Promise<string> {
  const groups = Object.entries<Readonly<Record<string, Option>>>(OPTION_GROUPS)
  const sections = groups.map(
    ([name, options]) => `## ${name}\n\n| option | effect |\n|---|---|\n${rowsOf(options)}`,
  )
  const codes = Object.values(EXIT_VALUES).map(
    ([code, name, error]) => `| ${code} | \`${name}\` | ${error === '' ? '' : `\`${error}\``} |`,
  )
  const exits = `## Exit codes\n\n| code | name | error |\n|---|---|---|\n${codes.join('\n')}`
  return formattedMarkdown(`${generatedBy('imapsync')}# Options of portreeve imapsync

Every option of imapsync with its effect in [\`portreeve imapsync\`](imapsync.md). Names can be shortened to a unique beginning, with one dash or two, in any case. Switches are turned off by \`no\`: \`--nolog\`, \`--no-log\`.

${[...sections, exits].join('\n\n')}
`)
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
