import type { Registration } from '../../protocols/registration.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import type { DomainContext } from '../domain-context.ts'
import type { LineState } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { type Line, type LineResult } from './line.ts'

/** Days before the end of a registration. */
const RENEWAL_DAYS = 30
const URGENT_RENEWAL_DAYS = 14

/** RFC 8056: with one of these the domain does not resolve, or is about to be lost. */
const GRAVE_STATUSES = [
  'client hold',
  'server hold',
  'redemption period',
  'pending delete',
  'inactive',
]

export const registrationLine: Line = {
  name: 'registration',
  title: 'Registration',
  check: checkRegistration,
}

async function checkRegistration({
  registeredDomain,
  deps,
  signal,
  now,
}: DomainContext): Promise<LineResult> {
  const result = await deps.registrations.lookUp(registeredDomain, signal)
  if (result.status === 'not-available')
    return { state: 'unknown', summary: `Not available: ${result.reason}` }
  if (result.status === 'failed')
    return {
      state: 'unknown',
      summary: `The registration could not be looked up. ${result.reason}`,
    }
  const { registration, server } = result
  const { registrar, statuses, expiresAt } = registration
  const grave = statuses.filter((status) => GRAVE_STATUSES.includes(status.toLowerCase()))
  const evidence = [
    {
      label: `${registeredDomain} (${server})`,
      value: describe(registration),
      state: 'good' as const,
    },
  ]
  const details = [
    ...(registrar === null ? [] : [`Registrar: ${registrar}.`]),
    ...(statuses.length > 0 ? [`Status: ${statuses.join(', ')}.`] : []),
  ]
  if (grave.length > 0)
    return {
      state: 'bad',
      summary: `The registration of ${registeredDomain} has the status “${grave.join(', ')}”.`,
      details,
      evidence,
    }
  return { ...expiryOf(registeredDomain, expiresAt, now), details, evidence }
}

function expiryOf(
  domain: string,
  expiresAt: Date | null,
  now: Date,
): { state: LineState; summary: string } {
  if (expiresAt === null)
    return {
      state: 'unknown',
      summary: `Not available: the registry does not publish when ${domain} expires.`,
    }
  const day = isoDay(expiresAt)
  const days = Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS)
  if (days < 0)
    return { state: 'bad', summary: `The registration of ${domain} expired on ${day}. Renew it.` }
  const summary = `The registration of ${domain} ends in ${counted(days, 'day')}, on ${day}.`
  if (days < URGENT_RENEWAL_DAYS) return { state: 'bad', summary: `${summary} Renew it now.` }
  return { state: days < RENEWAL_DAYS ? 'warning' : 'good', summary }
}

function describe({ expiresAt, registeredAt }: Registration): string {
  const parts = [
    ...(registeredAt ? [`registered ${isoDay(registeredAt)}`] : []),
    ...(expiresAt ? [`expires ${isoDay(expiresAt)}`] : []),
  ]
  return parts.join(', ') || 'registered'
}
