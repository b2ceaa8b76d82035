/** A metric of a query (`MetricDefinition` of the API v2). */
export type Metric = {
  /** By which its values are found in the answer. */
  name: string
  baseMetric: { standardMetric: string }
  filter?: string
}

/** Shares from 0 to 1, and a count, of a day. What is missing is not known. */
const DAY_VALUES = [
  'spamRate',
  'spfRate',
  'dkimRate',
  'dmarcRate',
  'tlsInboundRate',
  'tlsOutboundRate',
  'errorRate',
  'errorCount',
] as const
type DayValue = (typeof DAY_VALUES)[number]

export type DeliveryErrors = { type: string; reason: string; count: number }
export type LoopRate = { id: string; spamRate: number }

/** What Google says of a day, as Google counts days. */
export type PostmasterDay = {
  day: string
  values: Partial<Record<DayValue, number>>
  errors: DeliveryErrors[]
  loops: LoopRate[]
  loopIds: string[]
}

/** Requirements for senders (`ComplianceRowData`, and the two verdicts about unsubscribing). */
export const REQUIREMENTS = [
  'SPF',
  'DKIM',
  'SPF_AND_DKIM',
  'DMARC_POLICY',
  'DMARC_ALIGNMENT',
  'MESSAGE_FORMATTING',
  'DNS_RECORDS',
  'ENCRYPTION',
  'USER_REPORTED_SPAM_RATE',
  'ONE_CLICK_UNSUBSCRIBE',
  'HONOR_UNSUBSCRIBE',
] as const
export type Requirement = (typeof REQUIREMENTS)[number]

export type RequirementState = {
  requirement: Requirement
  /** `unknown` where Google says nothing of it. */
  state: 'compliant' | 'needs-work' | 'unknown'
  /** Of a verdict, such as `NO_UNSUB_GENERAL`. */
  reason: string | null
}

/** `domain` is the one that Google evaluated: that of the query, or the registered one above it. */
export type Compliance = { domain: string; requirements: RequirementState[] }

type Stat = { date?: Record<string, unknown>; metric?: unknown; value?: Record<string, unknown> }

/** Adds the values of an answer (`QueryDomainStatsResponse`). What cannot be read is no data. */
export function readStats(answer: object, days: Map<string, PostmasterDay>): void {
  const { domainStats } = answer as { domainStats?: unknown }
  if (!Array.isArray(domainStats)) return
  for (const stat of domainStats as (Stat | null)[]) {
    const day = dayOf(stat?.date)
    if (day === null || typeof stat?.metric !== 'string' || !stat.value) continue
    const found = days.get(day) ?? { day, values: {}, errors: [], loops: [], loopIds: [] }
    days.set(day, found)
    addValue(found, stat.metric, stat.value)
  }
}

function addValue(day: PostmasterDay, metric: string, value: Record<string, unknown>): void {
  const [kind, first = '', second = ''] = metric.split(' ')
  if (kind === 'loopIds') day.loopIds.push(...stringsOf(value))
  const number = numberOf(value)
  if (number === null) return
  const isRate = number <= 1
  if (kind === 'loop' && isRate)
    day.loops.push({ id: metric.slice('loop '.length), spamRate: number })
  else if (kind === 'errors') day.errors.push({ type: first, reason: second, count: number })
  else if (isDayValue(metric) && (metric === 'errorCount' || isRate)) day.values[metric] = number
}

const isDayValue = (name: string): name is DayValue => DAY_VALUES.some((each) => each === name)

/** A number of a `StatisticValue`, of which one field is set: `int64` comes as a text. */
function numberOf({ doubleValue, floatValue, intValue }: Record<string, unknown>): number | null {
  const given = doubleValue ?? floatValue ?? intValue
  const number = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null
}

function stringsOf({ stringList, stringValue }: Record<string, unknown>): string[] {
  const { values = [] } = (stringList ?? {}) as { values?: unknown }
  return [values, stringValue].flat().filter((each) => typeof each === 'string')
}

/** The day of a `google.type.Date`; null for a part of one. */
function dayOf(date: Record<string, unknown> | undefined): string | null {
  const { year, month, day } = date ?? {}
  if (![year, month, day].every((part) => Number.isInteger(part) && (part as number) > 0))
    return null
  const at = new Date(Date.UTC(year as number, (month as number) - 1, day as number))
  return at.getUTCDate() === day ? at.toISOString().slice(0, 10) : null
}

type Verdict = { status?: { status?: unknown }; reason?: unknown }
type ComplianceData = {
  domainId?: unknown
  rowData?: unknown
  oneClickUnsubscribeVerdict?: Verdict
  honorUnsubscribeVerdict?: Verdict
}

/** Reads a `DomainComplianceStatus`: of the subdomain where Google evaluates it for itself. */
export function complianceOf(answer: object): Compliance | null {
  const { complianceData, subdomainComplianceData } = answer as Record<string, unknown>
  const data = (subdomainComplianceData ?? complianceData) as ComplianceData | undefined
  if (!data) return null
  const rows = Array.isArray(data.rowData) ? data.rowData : []
  const states = new Map<string, RequirementState>()
  const add = (requirement: Requirement, status: unknown, reason: unknown = null) =>
    states.set(requirement, {
      requirement,
      state:
        status === 'COMPLIANT' ? 'compliant' : status === 'NEEDS_WORK' ? 'needs-work' : 'unknown',
      reason: typeof reason === 'string' && reason !== 'REASON_UNSPECIFIED' ? reason : null,
    })
  for (const row of rows as ({ requirement?: unknown; status?: Verdict['status'] } | null)[]) {
    const requirement = REQUIREMENTS.find((each) => each === row?.requirement)
    if (requirement) add(requirement, row?.status?.status)
  }
  const verdicts = [
    ['ONE_CLICK_UNSUBSCRIBE', data.oneClickUnsubscribeVerdict],
    ['HONOR_UNSUBSCRIBE', data.honorUnsubscribeVerdict],
  ] as const
  for (const [requirement, verdict] of verdicts)
    if (verdict?.status) add(requirement, verdict.status.status, verdict.reason)
  const requirements = REQUIREMENTS.flatMap((each) => states.get(each) ?? [])
  const domain = typeof data.domainId === 'string' ? data.domainId.slice(0, 253) : ''
  return requirements.length === 0 ? null : { domain, requirements }
}
