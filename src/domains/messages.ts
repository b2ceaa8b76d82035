import type { DomainFix, LineState, StageName } from './shapes.ts'

/**
 * Words about a domain that the API, the dashboard, the command line and alerts share. The dashboard
 * imports this file, so it imports types alone.
 */

export const STATE_NAMES: Record<LineState, string> = {
  good: 'Good',
  warning: 'Warning',
  bad: 'Problem',
  unknown: 'Not checked',
}

/** The state of a line about an optional feature that the domain does not use. */
export const NOT_USED = 'Not used'

export const STAGE_TITLES: Record<StageName, string> = {
  sender: 'Sender',
  authentication: 'Authentication',
  mx: 'MX',
  tls: 'TLS',
  reputation: 'Reputation',
}

export const FIXES_TITLE = 'Fix these in order'

/** Problems that no record of the zone fixes. */
export const OTHER_PROBLEMS_TITLE = 'Fix these on your servers or at your mail provider'

export const SEVERITY_NAMES: Record<DomainFix['severity'], string> = {
  bad: 'Fix now',
  warning: 'Should be fixed',
  suggestion: 'Suggestion',
}

/** The numbers of a check that is not in good order: `5 problems, 4 checks without an answer.` */
export function verdictInNumbers(problems: number, warnings: number, unanswered: number): string {
  const parts = [
    problems > 0 && `${problems} ${problems === 1 ? 'problem' : 'problems'}`,
    problems === 0 && warnings > 0 && `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
    unanswered > 0 && `${unanswered} ${unanswered === 1 ? 'check' : 'checks'} without an answer`,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}
