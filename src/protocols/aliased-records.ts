import type { Advice } from './advice.ts'
import type { DnsQueries } from './dns-queries.ts'

type Target = { name: string; type: string }

/**
 * What to know about a record that is proposed at an alias, beside which nothing can be published
 * (RFC 2181, 10.1): whether the alias can make way for it. A name with an underscore exists for
 * that record alone, while a host would lose its addresses.
 * @returns null when the name is no alias
 */
export async function findAlias(
  { name, type }: Target,
  queries: DnsQueries,
): Promise<{ message: string; isReplaceable: boolean } | null> {
  if (type !== 'TXT' || name.startsWith('*.')) return null
  const { alias } = await queries.lookUpTxt(name)
  if (alias === null) return null
  const isReplaceable = name.split('.').some((label) => label.startsWith('_'))
  const message = isReplaceable
    ? `${name} is an alias for ${alias}. Change the record there, or replace the alias by it.`
    : `${name} is an alias for ${alias}, and no record can be published beside an alias.`
  return { message, isReplaceable }
}

/** Says in advice that the name of the record to publish is an alias. */
export function adviseOnAliases(advice: Advice[], queries: DnsQueries): Promise<Advice[]> {
  return Promise.all(
    advice.map(async (one) => {
      const found = one.publish && (await findAlias(one.publish, queries))
      if (!found) return one
      const { publish, ...rest } = one
      const message = `${one.message} ${found.message}`
      return found.isReplaceable ? { ...one, message } : { ...rest, message }
    }),
  )
}
