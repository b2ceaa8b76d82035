import type { BlacklistItem, BlacklistResult } from '../../diagnostics/shapes.ts'
import type { Verdict } from '../../diagnostics/check-verdict.ts'
import { sanitizeForTerminal, table } from '../terminal-text.ts'
import { bad, doubtful, good, heading, quiet, warningLines } from './report-parts.ts'

const STATES: Record<BlacklistItem['status'], string> = {
  listed: bad('listed'),
  unknown: doubtful('unknown'),
  clean: good('clean'),
}

/** Listed first, then without a usable answer, then the number of the others or all of them. */
export function blocklistReport(data: BlacklistResult, verdict: Verdict, showAll: boolean): string {
  const rowsOf = (status: BlacklistItem['status']) =>
    data.blacklists.filter((item) => item.status === status).flatMap(rowsOfItem)
  const shown = [...rowsOf('listed'), ...rowsOf('unknown'), ...(showAll ? rowsOf('clean') : [])]
  const hidden = quiet(`${data.cleanCount} blocklists (--all shows them)`)
  if (!showAll && data.cleanCount > 0) shown.push([STATES.clean, hidden])
  return [
    heading(data.ip, verdict),
    ...(shown.length > 0 ? [table(shown)] : []),
    ...warningLines(data.warnings),
    '',
    quiet(`  ${data.totalChecked} blocklists checked in ${data.durationMs} ms.`),
  ].join('\n')
}

/** A blocklist on one row; a listing is followed by the page that removes it. */
function rowsOfItem({
  status,
  category,
  dnsbl,
  codes,
  reason,
  meanings,
  detail,
  delistUrl,
}: BlacklistItem): string[][] {
  const why =
    status === 'listed'
      ? [codes.join(' '), reason ?? meanings.join('; ')].join('  ')
      : (detail ?? '')
  const row = [
    STATES[status],
    quiet(category),
    sanitizeForTerminal(dnsbl),
    sanitizeForTerminal(why),
  ]
  if (status !== 'listed') return [why ? row : row.slice(0, 3)]
  const page = delistUrl ? `Removal: ${sanitizeForTerminal(delistUrl)}` : 'No removal page'
  return [row, ['', '', '', quiet(page)]]
}
