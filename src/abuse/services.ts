import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invalidField } from '../errors.ts'
import { ROOT } from '../version.ts'

export const ATTACK_CATEGORIES = [
  'bruteforce',
  'exploit',
  'ddos',
  'abuse',
  'scan',
  'malware',
  'spam',
  'fraud',
] as const

/** The services that can be attacked, and how severe an attack is. */
export type Service = {
  id: string
  label: string
  group: string
  defaultPorts: number[]
  /** 1 to 10. */
  severity: number
  category: (typeof ATTACK_CATEGORIES)[number]
  /** The usual evidence can carry a forged source address. */
  spoofable: boolean
  /** Other names, among them fail2ban's jails. */
  aliases: string[]
  /** Numbers of the nearest categories of AbuseIPDB. */
  abuseipdb: number[]
}

export const SERVICES: Service[] = JSON.parse(
  readFileSync(join(ROOT, 'data', 'abuse-services.json'), 'utf8'),
).services

export const GROUPS: string[] = [...new Set(SERVICES.map(({ group }) => group))]

const byId = new Map(SERVICES.map((service) => [service.id, service]))
const byName = new Map(
  SERVICES.flatMap((service) => [service.id, ...service.aliases].map((name) => [name, service])),
)

/** The service with this id; one that an earlier version knew counts as `other`. */
export function serviceOf(id: string): Service {
  return byId.get(id) ?? (byId.get('other') as Service)
}

/** Finds a service by id or alias, ignoring case; undefined when there is none. */
export function findService(name: string): Service | undefined {
  return byName.get(name.toLowerCase())
}

/**
 * Finds a service by id or alias.
 * @throws Fault `invalid_request` with a link to the list
 */
export function requireService(name: string): Service {
  const service = findService(name)
  if (service) return service
  const message = 'is no known service; GET /api/v1/abuse/report lists them'
  throw invalidField('service', message, `“${name.slice(0, 80)}”`)
}

/** Maps AbuseIPDB’s categories to services, the most specific first: a report often has `22,18`. */
export const ABUSEIPDB_CATEGORIES: [number, string][] = [
  [22, 'ssh'],
  [5, 'ftp'],
  [16, 'sqli'],
  [8, 'sip'],
  [3, 'payment-fraud'],
  [2, 'dns-poisoning'],
  [1, 'dns'],
  [7, 'phishing-host'],
  [12, 'form-spam'],
  [10, 'form-spam'],
  [11, 'email-spam'],
  [9, 'open-proxy'],
  [6, 'icmp-flood'],
  [23, 'mirai'],
  [19, 'bad-bot'],
  [21, 'http'],
  [4, 'ddos'],
  [20, 'exploited-host'],
  [18, 'pam'],
  [14, 'portscan'],
  [13, 'other'],
  [15, 'other'],
  [17, 'other'],
]

/** Maps AbuseIPDB’s category numbers to a service; undefined when none matches. */
export function serviceOfCategories(numbers: number[]): Service | undefined {
  const [, id] = ABUSEIPDB_CATEGORIES.find(([number]) => numbers.includes(number)) ?? []
  return id === undefined ? undefined : byId.get(id)
}
