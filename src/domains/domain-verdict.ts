import { joinItems } from '../protocols/advice.ts'
import { worstOf } from './lines/line.ts'
import { STAGE_TITLES } from './messages.ts'
import {
  LINES_BY_STAGE,
  STAGE_NAMES,
  type DomainLine,
  type DomainStage,
  type DomainVerdict,
  type LineName,
  type LineState,
} from './shapes.ts'

/** Lines without which nothing good can be said about a domain. */
const ESSENTIAL_LINES: readonly LineName[] = ['mx', 'spf', 'dmarc', 'smtp-tls', 'blocklists']

/** The one verdict that the API, the dashboard and the command line share. */
export function verdictOf(unicodeDomain: string, lines: readonly DomainLine[]): DomainVerdict {
  const titlesOf = (state: LineState) =>
    lines.filter((line) => line.state === state).map(({ title }) => title)
  const [bad, warning, unknown] = [titlesOf('bad'), titlesOf('warning'), titlesOf('unknown')]
  const state = verdictState(lines)
  const open =
    unknown.length > 0 ? ` ${counted(unknown)} could not be checked: ${joinItems(unknown)}.` : ''
  return {
    state,
    sentence: `${sentenceOf(unicodeDomain, { state, bad, warning })}${open}`,
    exitCode: exitCodeOf(state),
  }
}

function verdictState(lines: readonly DomainLine[]): LineState {
  const certain = worstOf(
    lines.filter(({ state }) => state !== 'unknown').map(({ state }) => state),
  )
  if (certain !== 'good') return certain
  const isOpen = ESSENTIAL_LINES.some(
    (name) => lines.find((line) => line.name === name)?.state !== 'good',
  )
  return isOpen ? 'unknown' : 'good'
}

function sentenceOf(
  domain: string,
  { state, bad, warning }: { state: LineState; bad: string[]; warning: string[] },
): string {
  if (state === 'bad') {
    const problems = bad.length === 1 ? '1 problem' : `${bad.length} problems`
    return `${domain} has ${problems}: ${joinItems(bad)}.`
  }
  if (state === 'warning') {
    const warnings = warning.length === 1 ? '1 warning' : `${warning.length} warnings`
    return `${domain} works, with ${warnings}: ${joinItems(warning)}.`
  }
  return state === 'good'
    ? `${domain} is in good order.`
    : `No problems were found with ${domain}, but the check is not complete.`
}

function counted(titles: string[]): string {
  return titles.length === 1 ? '1 part' : `${titles.length} parts`
}

/**
 * The exit code of `portreeve check DOMAIN`: 0 nothing wrong, 1 problems found, 2 an essential part
 * could not be checked.
 */
function exitCodeOf(state: LineState): 0 | 1 | 2 {
  if (state === 'good') return 0
  return state === 'unknown' ? 2 : 1
}

/** The mail path, each stage in the state of its worst line. */
export function stagesOf(lines: readonly DomainLine[]): DomainStage[] {
  return STAGE_NAMES.map((name) => {
    const names: readonly LineName[] = LINES_BY_STAGE[name]
    return {
      name,
      title: STAGE_TITLES[name],
      state: stageState(lines.filter((line) => names.includes(line.name))),
      lines: [...names],
    }
  })
}

/** An unknown line makes its stage unknown only if it is essential, or if all are unknown. */
function stageState(lines: readonly DomainLine[]): LineState {
  const essential = lines.filter(({ name }) => ESSENTIAL_LINES.includes(name))
  const known = lines.filter(({ state }) => state !== 'unknown')
  const certain = worstOf(known.map(({ state }) => state))
  if (certain !== 'good') return certain
  const isOpen = essential.some(({ state }) => state === 'unknown')
  return isOpen || known.length === 0 ? 'unknown' : 'good'
}
