import { fleetDecision, filterOf, isWanted } from '../../src/fleet/crowdsec/decisions.ts'
import { reportOfAlert, type Alert } from '../../src/exchange/crowdsec/crowdsec-alerts.ts'
import { serviceOfScenario } from '../../src/exchange/crowdsec/scenarios.ts'
import { readBulk } from '../../src/abuse/intake/bulk.ts'
import { parseReportTime } from '../../src/abuse/intake/report-time.ts'
import { readSubject } from '../../src/abuse/subject.ts'
import { parseAbuseContact } from '../../src/protocols/abuse-contact.ts'
import { runCases } from './run-cases.ts'

type Input = {
  scenario?: string
  time?: string
  address?: string
  emails?: [parameters: object, email: string][]
  bulk?: string
  decisions?: Record<string, string>
  alert?: Alert
}

const NOW = Date.parse('2026-11-28T12:00:00Z')

const BAN = fleetDecision(
  { address: '45.1.0.1', expiresAt: NOW + 60_000, change: 1, service: '' },
  NOW,
)

runCases('attack-reports.json', (input: Input) => {
  if (input.scenario !== undefined) return { service: serviceOfScenario(input.scenario).id }
  if (input.time !== undefined) return { at: secondsOf(parseReportTime(input.time)) }
  if (input.address !== undefined) return { ip: subjectOf(input.address) }
  if (input.bulk !== undefined) return bulkFacts(input.bulk)
  if (input.decisions !== undefined) return { isWanted: isWanted(BAN, filterOf(input.decisions)) }
  if (input.alert !== undefined) return alertFacts(input.alert)
  return { email: contactOf(input.emails ?? []) }
})

function bulkFacts(bulk: string): object {
  const rows = readBulk(bulk, NOW)
  return { rows, refused: rows.filter((row) => 'error' in row).map(({ line }) => line) }
}

const secondsOf = (time: number | null) =>
  time === null ? null : new Date(Math.floor(time / 1000) * 1000).toISOString()

function alertFacts(alert: Alert): object {
  const outcome = reportOfAlert(alert, NOW)
  if ('skipped' in outcome) return { ip: null }
  return { ip: outcome.report.subject.ip, count: outcome.report.count }
}

function subjectOf(text: string): string | null {
  try {
    return readSubject(text).ip
  } catch {
    return null
  }
}

function contactOf(emails: [object, string][]): string | null {
  const properties = emails.map(([parameters, email]) => ['email', parameters, 'text', email])
  const network = {
    objectClassName: 'ip network',
    startAddress: '192.0.2.0',
    endAddress: '192.0.2.255',
    entities: [{ roles: ['abuse'], vcardArray: ['vcard', properties] }],
  }
  return parseAbuseContact(JSON.stringify(network))?.email ?? null
}
