import type { Source } from '../api.ts'
import { source as messages } from '../messages.ts'

/**
 * The confirmed reverse name; otherwise the address, because anyone can claim an unconfirmed name.
 */
export function sourceName({ sourceIp, reverseName, reverseConfirmed }: Source): string {
  return reverseConfirmed && reverseName !== null ? reverseName : sourceIp
}

/** Unconfirmed name and network, in one line below the source's name. */
export function describeSource({ reverseName, reverseConfirmed, asn, asName }: Source): string {
  return [
    reverseName !== null && !reverseConfirmed && messages.unconfirmedShort(reverseName),
    describeNetwork({ asn, asName }),
  ]
    .filter(Boolean)
    .join(' · ')
}

export function describeReverseName({ reverseName, reverseConfirmed }: Source): string {
  if (reverseName === null) return messages.noReverseName
  return reverseConfirmed ? reverseName : messages.unconfirmedName(reverseName)
}

export function describeNetwork({ asn, asName }: Pick<Source, 'asn' | 'asName'>): string | null {
  return asn === null ? null : `AS${asn}${asName ? ` ${asName}` : ''}`
}
