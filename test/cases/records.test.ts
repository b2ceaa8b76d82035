import { caaLine } from '../../src/domains/lines/caa-line.ts'
import { dkimLine } from '../../src/domains/lines/dkim-line.ts'
import { mxLine } from '../../src/domains/lines/mx-line.ts'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import type { Line } from '../../src/domains/lines/line.ts'
import { dkimProposals } from '../../src/domains/fixes/dkim-fix.ts'
import { createLog } from '../../src/log.ts'
import { probeSelectors } from '../../src/protocols/dkim/probe-selectors.ts'
import { createDnsQueries } from '../../src/protocols/dns-queries.ts'
import { checkMailAuth } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import { mapResolver } from '../resolver.ts'
import { registeredUntil } from '../domains/check-with.ts'
import type { RecordText, Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

const DOMAIN = 'example.com'
const MAIL: Records = {
  'example.com A': ['192.0.2.1'],
  'example.com MX': ['10 mail.example.com'],
  'mail.example.com A': ['192.0.2.2'],
}
const stop = () => new AbortController().signal

/** `GET /api/v1/dmarc-check`, with the policy file of MTA-STS as it is given. */
function checkMail(records: Records, { domain = DOMAIN, policy = '' } = {}) {
  const fetchFile = async () => ({
    status: 200,
    contentType: 'text/plain',
    body: Buffer.from(policy),
  })
  return checkMailAuth({ domain }, { resolver: mapResolver(records), fetchFile }, stop())
}

type Checked = Awaited<ReturnType<typeof checkMail>>

function adviceAbout(about: Checked['warnings'][number]['about'], { warnings }: Checked) {
  const advice = warnings.filter((warning) => warning.about === about)
  const publish = advice.find((one) => one.publish)?.publish
  return {
    severity: advice[0]?.severity ?? null,
    proposal: publish?.value ?? null,
    messages: advice.map(({ message }) => message).join(' '),
  }
}

/** A row may expect a part of the text as `says`. */
const said = (text: string, says: string | undefined) =>
  says === undefined || text.includes(says) ? { says } : { says: text }

runCases('dmarc.json', async (texts: RecordText[], { says }: Says) => {
  const checked = await checkMail({ ...MAIL, '_dmarc.example.com TXT': texts })
  const { messages, proposal } = adviceAbout('dmarc', checked)
  const { found, effectivePolicy } = checked.dmarc
  return { found, effectivePolicy, proposal, ...said(messages, says) }
})

type Says = { says?: string }

runCases(
  'dmarc-inheritance.json',
  async ({ domain, records }: { domain: string; records: Records }) => {
    const checked = await checkMail(records, { domain })
    const { messages, proposal } = adviceAbout('dmarc', checked)
    return {
      effectivePolicy: checked.dmarc.effectivePolicy,
      saysNotEnforced: messages.includes('Not enforced'),
      proposal,
    }
  },
)

runCases('dkim.json', async ({ records }: { records: Records }) => {
  const queries = createDnsQueries(mapResolver(records), stop())
  const probe = await probeSelectors(DOMAIN, { asked: [], providers: [] }, queries)
  const found = probe.findings.filter(({ key, fromWildcard }) => key && !fromWildcard)
  const working = found.filter(({ key }) => key?.errors.length === 0)
  return {
    found: found.map(({ selector }) => selector),
    working: working.map(({ selector }) => selector),
    aliases: probe.findings.filter(({ alias }) => alias !== null).length,
    nothingBelow: probe.nothingBelow,
    proposal: dkimProposals(DOMAIN, probe)[0]?.value ?? null,
  }
})

runCases(
  'mta-sts.json',
  async (
    { policy, record, records }: { policy: string; record: string; records: Records },
    { says }: Says,
  ) => {
    const checked = await checkMail(
      { ...records, '_mta-sts.example.com TXT': [record] },
      { policy },
    )
    const { severity, messages } = adviceAbout('mta-sts', checked)
    return { severity, ...said(messages, says) }
  },
)

runCases('tls-rpt.json', async (texts: RecordText[]) =>
  adviceAbout('tls-rpt', await checkMail({ ...MAIL, '_smtp._tls.example.com TXT': texts })),
)

runCases('bimi.json', async ({ domain, records }: { domain: string; records: Records }) => {
  const { bimi } = await checkMail(records, { domain })
  return { found: bimi.found, missing: bimi.missing.length }
})

/** One line of the domain page. */
function checkLine(line: Line, records: Records) {
  const deps: DomainDeps = {
    resolver: mapResolver(records),
    blocklists: { lists: [] } as unknown as DomainDeps['blocklists'],
    domainLists: { check: async () => [] },
    registrations: registeredUntil(null),
    allowPrivate: true,
    log: createLog('silent'),
  }
  const context = createDomainContext({ kind: 'name', name: DOMAIN, unicode: DOMAIN }, deps, stop())
  return { context, result: line.check(context) }
}

runCases('caa.json', async (records: string[], { says }: Says) => {
  const { state, summary } = await checkLine(caaLine, { 'example.com CAA': records }).result
  return { state, ...said(summary, says) }
})

runCases('no-mail.json', async (records: Records) => {
  const mx = checkLine(mxLine, records)
  const [{ state, summary, details = [] }, dkim, usesMail] = await Promise.all([
    mx.result,
    checkLine(dkimLine, records).result,
    mx.context.usesMail(),
  ])
  const saysNullMx = [summary, ...details].join(' ').includes('null MX')
  return { usesMail, mx: state, dkim: dkim.state, saysNullMx }
})
