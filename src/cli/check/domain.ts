import { readConfig } from '../../config.ts'
import { createCheckServices } from '../../diagnostics/check-services.ts'
import { checkDomain } from '../../domains/check-domain.ts'
import { createRegistrationLookup } from '../../domains/registration-lookup.ts'
import { FIXES_TITLE, OTHER_PROBLEMS_TITLE, SEVERITY_NAMES } from '../../domains/messages.ts'
import type { DomainFix, DomainLine, DomainReport, LineState } from '../../domains/shapes.ts'
import { Fault } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { createDomainLists } from '../../protocols/dnsbl/domain-lists.ts'
import { pad, paint, sanitizeForTerminal, width } from '../terminal-text.ts'

/** The exit code for a domain that could not be checked, or that is not one. */
const NOT_CHECKED = 2

/**
 * Checks everything about a domain and prints the picture that the dashboard shows.
 * @returns the exit code: 0 nothing wrong, 1 problems found, 2 could not be checked
 */
export async function runDomainCheck(
  domain: string,
  { json = false }: { json?: boolean | undefined },
): Promise<number> {
  const config = readConfig()
  const services = createCheckServices(config, createLog('silent'))
  const { deps } = services
  try {
    const report = await checkDomain(
      domain,
      {
        ...deps,
        domainLists: createDomainLists(deps.blocklists),
        registrations: createRegistrationLookup(deps),
      },
      new AbortController().signal,
    )
    console.log(
      json ? JSON.stringify({ success: true, data: report }, null, 2) : domainReport(report),
    )
    return report.verdict.exitCode
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (json)
      console.log(JSON.stringify({ success: false, error: error.message, code: error.code }))
    else console.error(`Error: ${error.message}`)
    return NOT_CHECKED
  } finally {
    services.close()
  }
}

const COLORS: Record<LineState, Parameters<typeof paint>[0]> = {
  good: 'green',
  warning: 'yellow',
  bad: ['bold', 'red'],
  unknown: 'dim',
}
const MARKS: Record<LineState, string> = { good: '✓', warning: '!', bad: '✗', unknown: '?' }

/** The verdict, the mail path, its lines, the records to publish, and the other problems. */
export function domainReport(report: DomainReport): string {
  const { unicodeDomain, verdict, stages, lines, fixes } = report
  const path = stages.map(({ title, state }) => paint(COLORS[state], `${MARKS[state]} ${title}`))
  const others = lines.filter(
    ({ state, name }) => state === 'bad' && !fixes.some(({ line }) => line === name),
  )
  const columns = Math.max(...lines.map(({ title }) => width(title)))
  return [
    '',
    `  ${paint('bold', sanitizeForTerminal(unicodeDomain))}  ${paint(COLORS[verdict.state], sanitizeForTerminal(verdict.sentence))}`,
    '',
    `  ${path.join(paint('dim', ' → '))}`,
    ...stages.flatMap(({ name, title }) => [
      '',
      `  ${paint('bold', title)}`,
      ...lines.filter(({ stage }) => stage === name).flatMap((line) => lineRows(line, columns)),
    ]),
    ...(fixes.length > 0 ? ['', `  ${paint('bold', FIXES_TITLE)}`] : []),
    ...fixes.flatMap(fixRows),
    ...(others.length > 0 ? ['', `  ${paint('bold', OTHER_PROBLEMS_TITLE)}`, ''] : []),
    ...others.map(({ title, summary }) => `    ${title}: ${sanitizeForTerminal(summary)}`),
    '',
  ].join('\n')
}

function lineRows(
  { title, state, isUsed, summary, details }: DomainLine,
  columns: number,
): string[] {
  const mark = isUsed ? paint(COLORS[state], MARKS[state]) : paint('dim', '·')
  const text = sanitizeForTerminal(summary)
  const more = state === 'good' ? [] : details
  return [
    `    ${mark} ${pad(title, columns)}  ${isUsed ? text : paint('dim', text)}`,
    ...more.map(
      (detail) => `      ${pad('', columns)}  ${paint('dim', sanitizeForTerminal(detail))}`,
    ),
  ]
}

/** One record as a diff against what is published, with the reasons. */
function fixRows(fix: DomainFix, index: number): string[] {
  const reasons = [...new Set(fix.changes.map(({ reason }) => reason))]
  const record = (sign: string, value: string) => `     ${sign} "${sanitizeForTerminal(value)}"`
  return [
    '',
    `  ${index + 1}. ${paint('bold', `${sanitizeForTerminal(fix.name)}  ${fix.type}`)}  ${paint('dim', SEVERITY_NAMES[fix.severity])}`,
    ...fix.published.map((value) => paint('red', record('-', value))),
    paint('green', record('+', fix.value)),
    ...reasons.map((reason) => `       ${sanitizeForTerminal(reason)}`),
    ...(fix.caution ? [`       ${paint('yellow', sanitizeForTerminal(fix.caution))}`] : []),
  ]
}
