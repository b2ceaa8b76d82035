import { isIPv4 } from 'node:net'
import { STARTTLS } from '../../net/tls/starttls.ts'
import { defineCommand, defineGroup } from '../command.ts'

const load = () => import('./run-checks.ts')

const DOMAIN = { name: 'DOMAIN', completes: 'host' } as const

const FAILED = 'or the check failed'

const domainCommand = defineCommand({
  name: 'domain',
  summary: 'Check everything about the mail of a domain, and show the records to publish',
  description: [
    '`portreeve check example.com` does the same. The exit code is 2 if the domain, or an essential part of it, could not be checked.',
  ],
  operands: [DOMAIN],
  examples: [{ does: 'A domain', command: 'portreeve check example.com' }],
  exitCodes: { 0: 'nothing is wrong', 1: 'problems or warnings were found' },
  async run({ operands: [domain = ''], json }) {
    return (await import('./domain.ts')).runDomainCheck(domain, { json })
  },
})

const dnsCommand = defineCommand({
  name: 'dns',
  summary: 'Show the DNS records of a domain, and their problems',
  operands: [DOMAIN],
  examples: [{ does: 'The records of a domain', command: 'portreeve check dns example.com' }],
  exitCodes: {
    0: 'the name resolves, perhaps with issues (verdict OK or Warning)',
    1: `the name does not exist, a query failed, ${FAILED}`,
  },
  async run({ operands: [domain = ''], json }) {
    return (await load()).checkDns(domain, json)
  },
})

const sslCommand = defineCommand({
  name: 'ssl',
  summary: 'Check the certificate and the TLS connection of a host',
  operands: [{ name: 'HOST', completes: 'host' }],
  flags: {
    port: {
      value: 'N',
      range: [1, 65_535],
      summary: 'port of the host',
      defaultText: '443, or the usual port of --starttls',
    },
    starttls: {
      value: 'PROTOCOL',
      choices: STARTTLS,
      summary: 'protocol whose STARTTLS command starts TLS',
    },
  },
  examples: [
    { does: 'A web server', command: 'portreeve check ssl www.example.com' },
    {
      does: 'A mail server',
      command: 'portreeve check ssl mail.example.com --port 587 --starttls smtp',
    },
  ],
  exitCodes: {
    0: 'the certificate is trusted, perhaps with issues (verdict OK or Warning)',
    1: `the certificate is not trusted, expired or for another host, ${FAILED}`,
  },
  async run({ operands: [domain = ''], flags, json }) {
    return (await load()).checkSsl({ domain, ...flags }, json)
  },
})

const dmarcCommand = defineCommand({
  name: 'dmarc',
  summary: 'Check DMARC, SPF, DKIM, MTA-STS, TLS-RPT and BIMI of a domain',
  description: ['It shows the records, their problems, and the records to publish instead.'],
  operands: [DOMAIN],
  flags: {
    selector: { value: 'NAME', multiple: true, summary: 'DKIM selector of the domain' },
    ip: {
      value: 'ADDRESS',
      multiple: true,
      summary: 'test this address against the domain’s SPF record',
    },
  },
  examples: [
    { does: 'The records and their fixes', command: 'portreeve check dmarc example.com' },
    {
      does: 'Whether a server may send for the domain',
      command: 'portreeve check dmarc example.com --ip 192.0.2.1',
    },
  ],
  exitCodes: {
    0: 'the policy is enforced (quarantine or reject), without errors (verdict OK)',
    1: `no policy, a policy that is not enforced (p=none: verdict Warning), errors, ${FAILED}`,
  },
  async run({ operands: [domain = ''], flags, json }) {
    return (await load()).checkDmarc({ domain, ...flags }, json)
  },
})

const blocklistCommand = defineCommand({
  name: 'blocklist',
  // Its name in the API and in older scripts.
  aliases: ['blacklist'],
  summary: 'Check an IPv4 address on all DNS blocklists',
  description: [
    'It shows the blocklists that list the address, then those without a usable answer, then the number of the others.',
  ],
  operands: [{ name: 'IPV4', summary: 'a public IPv4 address' }],
  flags: { all: { summary: 'also show the blocklists that do not list the address' } },
  examples: [
    { does: 'One address', command: 'portreeve check blocklist 8.8.4.4' },
    {
      does: 'The verdict alone, for a script',
      command: 'portreeve check blocklist 8.8.4.4 --json | jq .verdict',
    },
  ],
  exitCodes: {
    0: 'not listed (verdict OK)',
    1: `listed, no answer from a critical blocklist or from most of them, ${FAILED}`,
  },
  async run({ operands: [ip = ''], flags, json }) {
    return (await load()).checkBlocklists(ip, { json, showAll: flags.all })
  },
})

export const checkCommand = defineGroup({
  name: 'check',
  summary: 'Check a domain, host or IP address',
  description: [
    'Checks need no service and no database. Each prints a verdict, OK, Warning, Error or Unknown, as the dashboard does; with --json, the result in the format of the API.',
    'DNS_SERVERS and DNSBL_SERVERS set the resolvers, ALLOW_PRIVATE_TARGETS the allowed private networks.',
  ],
  examples: [
    { does: 'Everything about a domain', command: 'portreeve check example.com' },
    { does: 'The DNS records of a domain', command: 'portreeve check dns example.com' },
    {
      does: 'The certificate of a mail server',
      command: 'portreeve check ssl mail.example.com --port 587 --starttls smtp',
    },
    { does: 'The blocklists with an address', command: 'portreeve check blocklist 8.8.4.4' },
  ],
  subcommands: [domainCommand, dnsCommand, sslCommand, dmarcCommand, blocklistCommand],
  // `portreeve check 8.8.4.4` and `portreeve check example.com`.
  route(argument) {
    if (isIPv4(argument)) return 'blocklist'
    return argument.includes('.') ? 'domain' : undefined
  },
})
