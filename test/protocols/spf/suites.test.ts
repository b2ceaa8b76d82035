import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { checkMailAuth } from '../../../src/diagnostics/mail-auth/mail-auth.ts'
import { createDomainContext, type DomainDeps } from '../../../src/domains/domain-context.ts'
import { spfLine } from '../../../src/domains/lines/spf-line.ts'
import { Fault } from '../../../src/errors.ts'
import { parseHost, type DomainName } from '../../../src/net/address.ts'
import type { DnsFailure } from '../../../src/net/dns.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { authenticateMail } from '../../../src/protocols/mail/mail-authentication.ts'
import { evaluateSpf } from '../../../src/protocols/spf/evaluate-spf.ts'
import { mapResolver, type MapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

/**
 * Suites in the form of openspf.org’s: YAML documents with tests and the zone for them. That suite
 * itself runs as well when its file is in the folder.
 */
type Suite = { description: string; tests: Record<string, Test>; zonedata: ZoneData }

type Test = {
  helo: string
  host: string
  mailfrom: string
  /** Of several, each is right. */
  result: string | string[]
  /** `DEFAULT` for none of the domain’s own. */
  explanation?: string
}

/** `TIMEOUT` is the answer for all types that are not listed. `SPF` is also TXT where that is not. */
type ZoneData = Record<string, ('TIMEOUT' | Record<string, string | (string | number)[]>)[]>

const FOLDER = join(import.meta.dirname, 'suites')
const TYPES = ['TXT', 'A', 'AAAA', 'MX', 'PTR', 'SPF', 'CNAME']

function zoneOf(data: ZoneData): { records: Records; failures: Record<string, DnsFailure> } {
  const records: Records = {}
  const failures: Record<string, DnsFailure> = {}
  for (const [name, entries] of Object.entries(data)) {
    const listed = entries.flatMap((entry) => (entry === 'TIMEOUT' ? [] : Object.entries(entry)))
    const hasTxt = listed.some(([type]) => type === 'TXT')
    for (const [type, value] of listed) {
      const kept = type === 'SPF' && !hasTxt ? 'TXT' : type
      if (value !== 'NONE') (records[`${name} ${kept}`] ??= []).push(textOf(kept, value))
    }
    if (!entries.includes('TIMEOUT')) continue
    for (const type of TYPES)
      if (!records[`${name} ${type}`]) failures[`${name} ${type}`] = 'TIMEOUT'
  }
  return { records, failures }
}

function textOf(type: string, value: string | (string | number)[]) {
  const parts = [value].flat().map(String)
  return type === 'TXT' ? parts.map((part) => Buffer.from(part, 'latin1')) : parts.join(' ')
}

const signalOf = () => new AbortController().signal

/** The domain of the sender, if it can be checked. */
function domainOf({ mailfrom }: Test): DomainName | null {
  try {
    const host = parseHost(mailfrom.split('@').at(-1) ?? '', 'domain')
    return host.kind === 'name' ? host : null
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** The result of the check of a domain for a server. */
async function checkServer({ name }: DomainName, ip: string, resolver: MapResolver) {
  const fetchFile = () => Promise.reject(new Error('no policy is published'))
  const check = await checkMailAuth({ domain: name, ip: [ip] }, { resolver, fetchFile }, signalOf())
  return check.spf.senders?.[0]?.result
}

/** The state of the line on the domain page. */
async function stateOnPage(domain: DomainName, resolver: MapResolver) {
  const deps = { resolver } as unknown as DomainDeps
  return (await spfLine.check(createDomainContext(domain, deps, signalOf()))).state
}

for (const file of globSync('*.yml', { cwd: FOLDER }).toSorted()) {
  const documents = parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'), { merge: true })
  for (const document of documents) {
    const { description, tests, zonedata } = document.toJS() as Suite
    const { records, failures } = zoneOf(zonedata)
    const needsSender = /%\{[slh]/i.test(JSON.stringify(zonedata))
    describe(`${file}: ${description}`, () => {
      it.each(Object.entries(tests))('%s', async (_name, test) => {
        const resolver = mapResolver(records, failures)
        const client = { ip: test.host, helo: test.helo, sender: test.mailfrom }
        const { result, explanation } = await evaluateSpf(client, createDnsQueries(resolver, signalOf())) // prettier-ignore
        expect([test.result].flat()).toContain(result)
        if (test.explanation !== undefined && result === 'fail')
          expect((explanation ?? 'DEFAULT').toLowerCase()).toBe(test.explanation.toLowerCase())
        const mail = Buffer.from('From: a@from.test\r\n\r\nHello\r\n')
        const received = await authenticateMail(mail, client, resolver, signalOf())
        expect(received.spf.result).toBe(result)

        const domain = domainOf(test)
        if (!domain) return
        // Checks of domains evaluate mail of the postmaster, from a server that greets as the domain.
        if (!needsSender) expect(await checkServer(domain, test.host, resolver)).toBe(result)
        // What no server passes, or may not pass tomorrow, is not called good.
        const isBroken = ['none', 'permerror', 'temperror'].includes(result)
        if (isBroken) expect(await stateOnPage(domain, resolver)).not.toBe('good')
      })
    })
  }
}
