import { planSteps } from '../../src/delisting/steps/plan-steps.ts'
import { readCatalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import type { Listing } from '../../src/protocols/dnsbl/blocklists.ts'
import { interpretAnswer, meaningsOf } from '../../src/protocols/dnsbl/dnsbl-answer.ts'
import { DOMAIN_LISTS, interpretDomainAnswer } from '../../src/protocols/dnsbl/domain-lists.ts'
import { answered } from '../protocols/dnsbl/dnsbl-answers.ts'
import { runCases } from './run-cases.ts'

type Answer = { zone: string; codes: string[] }

const CATALOGUE = readCatalogue()

function listOf(zone: string) {
  const list = CATALOGUE.lists.find((one) => one.zone === zone)
  if (!list) throw new Error(`the catalogue has no ${zone}`)
  return list
}

/** An answer of a DNS blocklist of the catalogue. */
runCases('blocklists.json', ({ zone, codes }: Answer) => {
  const list = listOf(zone)
  const meanings = meaningsOf(codes, list).length
  return { status: interpretAnswer(answered(...codes), list).status, meanings }
})

/** An answer of a blocklist of domains. */
runCases('domain-blocklists.json', ({ zone, codes }: Answer) => {
  const list = DOMAIN_LISTS.find((one) => one.zone === zone)
  if (!list) throw new Error(`there is no ${zone}`)
  const { status, meanings } = interpretDomainAnswer(answered(...codes), list)
  return { status, meanings: meanings.length }
})

/** How an address is removed from a list that gave these answers; `method` null: it is not. */
runCases('delisting.json', ({ zone, codes }: Answer, { says }: { says?: string }) => {
  const list = listOf(zone)
  const listing = { list, codes, meanings: [], reason: null, detail: null, health: 'healthy' }
  const answer = { ...listing, status: 'listed', checkedAt: 0, expiresAt: 0 } as Listing
  const [step] = planSteps('192.0.2.1', [answer], false)
  if (!step) return { method: null }
  const { email, expectedHours, cooldownHours, last, notes = '', expiry = '' } = step.plan
  const text = `${expiry} ${notes}`
  const said = says === undefined || text.includes(says) ? says : text
  return { method: step.method, email, expectedHours, cooldownHours, last, says: said }
})
