import ipaddr from 'ipaddr.js'
import { parseAddress } from '../../net/address.ts'
import { DAY_MS } from '../../time.ts'
import { parseReportTime } from '../../abuse/intake/report-time.ts'
import { networkOf } from '../../protocols/networks/read-network.ts'
import { readSubject, type Subject } from '../../abuse/subject.ts'
import { ParameterError, PlanError } from './abuseipdb-failures.ts'

/** Parameters as they arrive: text of a query string or form, or values of JSON. */
type Value = string | number | boolean | null | (string | number)[] | undefined
export type Parameters = Record<string, Value>

/** @throws ParameterError */
export function readText(parameters: Parameters, name: string): string {
  const value = parameters[name]
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  throw new ParameterError(name, `The ${name} parameter is required.`)
}

/** A flag counts when it is there, also without a value. */
export function readFlag(parameters: Parameters, name: string): boolean {
  const value = parameters[name]
  return value !== undefined && value !== '0' && value !== 'false' && value !== false
}

/** Empty text is no number. */
function numberOf(value: Value): number {
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : (value as number)
}

/** @throws ParameterError */
export function readInteger(
  parameters: Parameters,
  name: string,
  { min, max, byDefault }: { min: number; max: number; byDefault: number },
): number {
  const value = parameters[name]
  if (value === undefined || value === '') return byDefault
  const number = numberOf(value)
  if (Number.isInteger(number) && number >= min && number <= max) return number
  throw new ParameterError(name, `The ${name} parameter must be an integer from ${min} to ${max}.`)
}

/** The address that a parameter names, and null in place of a subject when it is not public. */
export function readIp(
  parameters: Parameters,
  name: string,
): { ip: string; subject: Subject | null } {
  const text = readText(parameters, name)
  const address = text.length <= 45 ? parseAddress(text) : null
  if (!address)
    throw new ParameterError(name, `The ${name} parameter must be an IPv4 or IPv6 address.`)
  try {
    return { ip: address.address, subject: readSubject(text) }
  } catch {
    return { ip: address.address, subject: null }
  }
}

/** @throws ParameterError also for an address that is not public */
export function readPublicIp(parameters: Parameters, name: string): Subject {
  const { ip, subject } = readIp(parameters, name)
  if (subject) return subject
  throw new ParameterError(name, `${ip} is not a public address; only those can be reported.`)
}

/** Category numbers, separated by commas or as a list. @throws ParameterError */
export function readCategories(parameters: Parameters): number[] {
  const value = parameters['categories']
  const list = Array.isArray(value) ? value : `${value ?? ''}`.split(',')
  const numbers = list.map(numberOf)
  const isKnown = (number: number) => Number.isInteger(number) && number >= 1 && number <= 23
  if (numbers.length <= 30 && numbers.every(isKnown)) return numbers
  throw new ParameterError('categories', 'The categories parameter must be numbers from 1 to 23.')
}

/**
 * The time of a report; reports count from their arrival, so an old one is refused.
 * @throws ParameterError
 */
export function requireRecent(parameters: Parameters, now: number): void {
  const value = parameters['timestamp']
  if (value === undefined || value === null || value === '') return
  const at = parseReportTime(typeof value === 'string' ? value : '')
  if (at === null || at > now + DAY_MS)
    throw new ParameterError('timestamp', 'The timestamp parameter must be a date and time.')
  if (now - at > DAY_MS)
    throw new ParameterError('timestamp', 'The timestamp must not be older than a day.')
}

/** The widest networks of one request. */
const MIN_PREFIX = { 4: 16, 6: 32 } as const

export type Network = {
  cidr: string
  family: 4 | 6
  bits: number
  first: string
  last: string
  netmask: string
  hosts: number
}

/** @throws ParameterError, PlanError for a network that is too wide */
export function readNetwork(parameters: Parameters): Network {
  const text = readText(parameters, 'network')
  const [address = '', length = '', more] = text.split('/')
  const parsed = text.length <= 49 ? parseAddress(address) : null
  const bits = Number(length)
  const most = parsed?.family === 6 ? 128 : 32
  if (!parsed || more !== undefined || !/^\d{1,3}$/.test(length) || bits > most)
    throw new ParameterError(
      'network',
      'The network parameter must be a network such as 192.0.2.0/24.',
    )
  const min = MIN_PREFIX[parsed.family]
  if (bits < min)
    throw new PlanError(`Networks can be up to /${min} wide, or /${MIN_PREFIX[6]} for IPv6.`)
  const cidr = networkOf(ipaddr.parse(parsed.address), bits)
  const kind = parsed.family === 4 ? ipaddr.IPv4 : ipaddr.IPv6
  return {
    cidr,
    family: parsed.family,
    bits,
    first: kind.networkAddressFromCIDR(cidr).toString(),
    last: lastAddress(cidr, bits),
    netmask: kind.subnetMaskFromPrefixLength(bits).toString(),
    hosts: 2 ** (most - bits),
  }
}

function lastAddress(cidr: string, bits: number): string {
  const bytes = ipaddr
    .parse(cidr.split('/')[0] ?? '')
    .toByteArray()
    .map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - index * 8))))
  return ipaddr.fromByteArray(bytes).toString()
}
