import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { checkAddress } from '../../diagnostics/blacklist.ts'
import { createCheckServices, type CheckDeps } from '../../diagnostics/check-services.ts'
import { dnsCheck } from '../../diagnostics/dns/dns.ts'
import { mailAuthCheck } from '../../diagnostics/mail-auth/mail-auth.ts'
import { runCheck } from '../../diagnostics/routes.ts'
import type { BlacklistItem } from '../../diagnostics/shapes.ts'
import { tlsCheck } from '../../diagnostics/tls/tls.ts'
import { createLog } from '../../log.ts'
import { STARTTLS, type StartTls } from '../../net/tls/starttls.ts'
import {
  blacklistRow,
  blacklistSummary,
  dnsReport,
  mailAuthReport,
  tlsReport,
} from './check-reports.ts'
import { runDomainCheck } from './domain.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { paint } from '../text.ts'

/** The name of the blocklist check in scripts and in the API. */
const BLOCKLIST_CHECK = 'blacklist'

const USAGE = `Usage: portreeve check DOMAIN
       portreeve check dns DOMAIN
       portreeve check ssl HOST [--port N] [--starttls smtp|imap|pop3|ldap|postgres]
       portreeve check dmarc DOMAIN [--selector NAME …] [--ip ADDRESS …]
       portreeve check ${BLOCKLIST_CHECK} IPV4

Runs a check without a server or a database. With a DOMAIN alone: everything about its mail.

Exit codes: 0 no problems, 1 problems found or check failed (also: a critical blocklist without an answer), 2 usage error.
Of a DOMAIN alone: 0 nothing wrong, 1 problems found, 2 usage error or an essential part could not be checked.

  --port      port of the host (443)
  --starttls  protocol whose STARTTLS command starts TLS
  --selector  DKIM selector of the domain; may be repeated
  --ip        test this address against the domain’s SPF record; may be repeated
  --json      print the result in the format of the API
  --help      show this help

DNS_SERVERS and DNSBL_SERVERS set the resolvers, ALLOW_PRIVATE_TARGETS the allowed private networks.`

const OPTIONS = {
  json: { type: 'boolean' },
  port: { type: 'string' },
  starttls: { type: 'string' },
  selector: { type: 'string', multiple: true },
  ip: { type: 'string', multiple: true },
} as const

type Options = {
  json?: boolean
  port?: string
  starttls?: string
  selector?: string[]
  ip?: string[]
}

/** The result of a check: its data, whether it found problems, and the text to print. */
type Outcome = { data: unknown; failed: boolean; text: string }
type Kind = (target: string, options: Options, deps: CheckDeps) => Promise<Outcome>

const KINDS: Record<string, Kind> = {
  async dns(domain, _options, deps) {
    const data = await runCheck(dnsCheck, { domain }, deps)
    return {
      data,
      failed: data.status === 'NXDOMAIN' || Object.keys(data.errors).length > 0,
      text: dnsReport(data),
    }
  },
  async ssl(domain, options, deps) {
    const query = { domain, port: portOf(options.port), starttls: startTlsOf(options.starttls) }
    const data = await runCheck(tlsCheck, query, deps)
    return { data, failed: !data.authorized, text: tlsReport(data) }
  },
  async dmarc(domain, { selector, ip }, deps) {
    const data = await runCheck(mailAuthCheck, { domain, selector, ip }, deps)
    const failed = data.warnings.some((warning) => warning.severity === 'error')
    return { data, failed, text: mailAuthReport(data) }
  },
  async [BLOCKLIST_CHECK](ip, { json }, deps) {
    const show = json ? undefined : rowPrinter(deps.blocklists.lists.length)
    const run = (address: string, { blocklists }: CheckDeps, signal: AbortSignal) =>
      checkAddress(address, blocklists, signal, show?.row)
    const data = await runCheck({ run }, ip, deps)
    show?.end()
    // Success must not mean that the lists that matter gave no answer.
    const undecided = data.blacklists.some(
      (item) => item.status === 'unknown' && item.category === 'critical',
    )
    return { data, failed: data.listedCount > 0 || undecided, text: blacklistSummary(data) }
  },
}

export const checkCommand: CliCommand = {
  name: 'check',
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    const [name = '', target = '', ...more] = positionals
    if (name.includes('.') && target === '') return runDomainCheck(name, values)
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    if (!kind || target === '' || more.length > 0)
      throw new UsageError(`Give a check (dns, ssl, dmarc or ${BLOCKLIST_CHECK}) and one target.`)
    const config = readConfig()
    const checks = createCheckServices(config, createLog('silent'))
    try {
      const { data, failed, text } = await kind(target, values, checks.deps)
      console.log(values.json ? JSON.stringify({ success: true, data }, null, 2) : text)
      return failed ? 1 : 0
    } finally {
      checks.close()
    }
  },
}

/** Prints each list's row as its answer comes, and on a terminal how many are still to come. */
function rowPrinter(total: number) {
  const live = process.stdout.isTTY
  let settled = 0
  const wipe = () => (live ? '\r\u001b[2K' : '')
  return {
    row: (item: BlacklistItem) => {
      settled += 1
      process.stdout.write(`${wipe()}${blacklistRow(item)}\n`)
      if (live && settled < total) process.stdout.write(paint('dim', `  … ${settled} of ${total}`))
    },
    end: () => process.stdout.write(wipe()),
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new UsageError('--port must be a number from 1 to 65535.')
  return port
}

function startTlsOf(text: string | undefined): StartTls | undefined {
  const protocol = STARTTLS.find((known) => known === text)
  if (text !== undefined && !protocol)
    throw new UsageError(`--starttls must be one of ${STARTTLS.join(', ')}.`)
  return protocol
}
