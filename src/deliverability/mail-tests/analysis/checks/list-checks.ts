import { getDomain } from 'tldts'
import { classify } from '../../../../net/address.ts'
import type { Category } from '../../../../protocols/dnsbl/blocklist-catalogue.ts'
import type { DomainListing } from '../../../../protocols/dnsbl/domain-lists.ts'
import { parseMailboxes } from '../../../../protocols/mail/mailboxes.ts'
import { failed, listed, notChecked, passed, type MailCheck, type Outcome } from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'

const group = 'lists' as const

function addressLists(categories: readonly Category[]): MailCheck['run'] {
  return async (facts) => {
    const { ip } = facts.mail
    if (ip === null) return notChecked('The address of the sending server is not known.')
    if (!classify(ip).public)
      return notChecked(`${ip} is not a public address; lists do not have it.`)
    const listings = (await facts.addressListings()) ?? []
    const own = listings.filter(({ list }) => categories.includes(list.category))
    const on = own.filter(({ status }) => status === 'listed')
    const unknown = own.filter(({ status }) => status === 'unknown')
    if (on.length > 0) {
      const worst =
        categories.includes('major') && !on.some(({ list }) => list.category === 'major')
      return failed(
        `${ip} is on ${on.map(({ list, meanings }) => list.name + (meanings[0] ? ` (${meanings[0]})` : '')).join(', ')}.`,
        `Find out why, stop the cause, then ask for removal: start a delisting for ${ip}.`,
        worst ? 'note' : undefined,
      )
    }
    const answered = own.length - unknown.length
    if (answered === 0) return notChecked(`None of ${own.length} lists could be queried.`)
    const rest = unknown.length > 0 ? ` ${unknown.length} could not be queried.` : ''
    return passed(`${ip} is not on ${answered} lists.${rest}`)
  }
}

/** Domains of a mail that are looked up, beyond which the rest is left out. */
const MAX_DOMAINS = 15

async function checkDomains(facts: MailFacts, domains: string[], fix: string): Promise<Outcome> {
  const distinct = [...new Set(domains)]
  if (distinct.length === 0) return passed('The mail has no domains to check.')
  const checked = distinct.slice(0, MAX_DOMAINS)
  const results = await Promise.all(checked.map((domain) => facts.domainListings(domain)))
  const on = results.flat().filter(({ status }) => status === 'listed')
  if (on.length > 0) return failed(`${describeListings(on)}.`, fix)
  const answered = results.flat().filter(({ status }) => status === 'clean')
  if (answered.length === 0) return notChecked('None of the domain lists could be queried.')
  const lists = new Set(answered.map(({ list }) => list.zone)).size
  const rest =
    distinct.length > checked.length
      ? ` ${distinct.length - checked.length} more were left out.`
      : ''
  return passed(
    `${listed(checked)}: not on ${lists} domain ${lists === 1 ? 'list' : 'lists'}.${rest}`,
  )
}

function describeListings(on: DomainListing[]): string {
  const texts = on.map(
    ({ domain, list, meanings }) => `${domain} is on ${list.name} (${meanings.join(', ')})`,
  )
  return listed([...new Set(texts)])
}

function checkFrom(facts: MailFacts): Promise<Outcome> {
  return checkDomains(
    facts,
    facts.fromDomain === null ? [] : [facts.fromDomain],
    'Find out why on the page of the list, stop the cause, then ask for removal.',
  )
}

async function checkOtherDomains(facts: MailFacts): Promise<Outcome> {
  const [reverse, signatures] = await Promise.all([facts.reverseDns(), facts.signatures()])
  const names = [
    facts.mail.mailFrom ? facts.envelopeDomain : null,
    facts.mail.helo?.toLowerCase().replace(/\.$/, ''),
    reverse?.names[0],
    ...signatures.map(({ domain }) => domain),
    ...facts
      .values('reply-to')
      .flatMap(parseMailboxes)
      .map(({ domain }) => domain),
  ]
  const domains = names.filter(
    (name): name is string =>
      Boolean(name) && getDomain(name as string) !== null && name !== facts.fromDomain,
  )
  return checkDomains(
    facts,
    domains,
    'Use other domains, or ask for removal on the page of the list.',
  )
}

function checkLinkDomains(facts: MailFacts): Promise<Outcome> {
  const hosts = facts.links.filter(({ domain }) => domain !== null).map(({ host }) => host)
  return checkDomains(
    facts,
    hosts,
    'Remove the link, or link to a domain that is not listed. Shared link and image hosts are a frequent cause.',
  )
}

async function checkLinkAddresses(facts: MailFacts): Promise<Outcome> {
  const hosts = [
    ...new Set(facts.links.filter(({ domain }) => domain !== null).map(({ host }) => host)),
  ]
  if (hosts.length === 0) return passed('The mail has no links.')
  const missing: string[] = []
  let unknown = 0
  await Promise.all(
    hosts.slice(0, MAX_DOMAINS).map(async (host) => {
      const answers = await Promise.all([
        facts.queries.query(host, 'A'),
        facts.queries.query(host, 'AAAA'),
      ])
      if (answers.some((answer) => answer.status !== 'FAILED' && answer.records.length > 0)) return
      if (answers.some(({ status }) => status === 'FAILED')) unknown++
      else missing.push(host)
    }),
  )
  if (missing.length > 0)
    return failed(`${listed(missing)} in links does not resolve.`, 'Correct or remove these links.')
  if (unknown === Math.min(hosts.length, MAX_DOMAINS))
    return notChecked('The hosts of the links could not be looked up.')
  return passed(`The hosts of the links resolve: ${listed(hosts, 3)}.`)
}

export const LIST_CHECKS: MailCheck[] = [
  {
    id: 'address-lists',
    group,
    severity: 'blocks',
    title: 'Important address blocklists',
    rule: 'The sending address is on none of the lists that most receivers use.',
    source: 'RFC 5782; Spamhaus, Barracuda and SpamCop',
    run: addressLists(['critical']),
  },
  {
    id: 'other-address-lists',
    group,
    severity: 'hurts',
    title: 'Other address blocklists',
    rule: 'The sending address is on no other blocklist.',
    source: 'RFC 5782',
    run: addressLists(['major', 'minor', 'informational']),
  },
  {
    id: 'from-domain-lists',
    group,
    severity: 'blocks',
    title: 'Blocklists: domain in From',
    rule: 'The domain in From is on no domain blocklist.',
    source: 'Spamhaus DBL, SURBL, URIBL',
    run: checkFrom,
  },
  {
    id: 'other-domain-lists',
    group,
    severity: 'hurts',
    title: 'Blocklists: other sender domains',
    rule: 'The domains of envelope, greeting, signatures and replies are on no domain blocklist.',
    source: 'Spamhaus DBL, SURBL, URIBL',
    run: checkOtherDomains,
  },
  {
    id: 'link-domain-lists',
    group,
    severity: 'hurts',
    title: 'Blocklists: domains of links',
    rule: 'The domains of links are on no domain blocklist.',
    source: 'Spamhaus DBL, SURBL, URIBL',
    run: checkLinkDomains,
  },
  {
    id: 'link-hosts',
    group,
    severity: 'hurts',
    title: 'Hosts of links',
    rule: 'The hosts of links resolve. Links are never opened.',
    source: 'RFC 3986, 3.2.2',
    run: checkLinkAddresses,
  },
]
