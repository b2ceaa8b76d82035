import type { Advice } from './advice.ts'
import type { DnsQueries } from './dns-queries.ts'

type Target = { name: string; type: string }

/**
 * What to know about a record that is proposed at an alias, beside which nothing can be published
 * (RFC 2181, 10.1). A name with an underscore exists for that record alone, so its alias can make
 * way; a name in reverse DNS is delegated by its alias (RFC 2317); a host would lose its addresses.
 * @returns null when the name is no alias
 */
export async function findAlias(
  { name, type }: Target,
  queries: DnsQueries,
): Promise<{ message: string; canBePublished: boolean } | null> {
  // Of TLSA records, the line itself knows where they are.
  if ((type !== 'TXT' && type !== 'PTR') || name.startsWith('*.')) return null
  const answer = await queries.query(name, type)
  const alias = answer.status === 'FAILED' ? undefined : answer.cnames.at(-1)
  if (alias === undefined) return null
  const is = `${name} is an alias for ${alias}`
  if (type === 'PTR') return { message: `${is}. Change the record there.`, canBePublished: true }
  const canBePublished = name.split('.').some((label) => label.startsWith('_'))
  const message = canBePublished
    ? `${is}. Change the record there, or replace the alias by it.`
    : `${is}, and no record can be published beside an alias.`
  return { message, canBePublished }
}

/** Says in advice that the name of the record to publish is an alias. */
export function adviseOnAliases(advice: Advice[], queries: DnsQueries): Promise<Advice[]> {
  return Promise.all(
    advice.map(async (one) => {
      const found = one.publish && (await findAlias(one.publish, queries))
      if (!found) return one
      const { publish, ...rest } = one
      const message = `${one.message} ${found.message}`
      return found.canBePublished ? { ...rest, message, publish } : { ...rest, message }
    }),
  )
}
