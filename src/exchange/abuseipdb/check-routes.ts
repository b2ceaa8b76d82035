import type { App } from '../../http/http-server.ts'
import { DAY_MS } from '../../time.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { describeAddress, type AddressDescription } from '../../abuse/lookup/check-address.ts'
import { attackerNetworkOf } from '../../abuse/reputation/attacker-network.ts'
import { categoriesOf } from './categories.ts'
import { readFlag, readInteger, readIp, readNetwork } from './parameters.ts'
import { timeOf } from './abuseipdb-time.ts'
import { parametersOf, type Guard } from './caller.ts'
import * as shapes from './shapes.ts'
import { listReportedIn } from './abuseipdb-quotas.sql.ts'

/** Addresses of a network in one answer, worst first. */
const MAX_REPORTED = 10_000

const AGE = { min: 1, max: 365, byDefault: 30 }

export function checkRoutes(app: App, abuse: AttackList, guard: Guard): void {
  checkRoute(app, abuse, guard)
  reportsRoute(app, abuse, guard)
  blockRoute(app, abuse, guard)
}

function checkRoute(app: App, abuse: AttackList, guard: Guard): void {
  app.get(
    '/api/v2/check',
    {
      config: { limit: 'address look-ups', key: 'report token' },
      preValidation: guard('check'),
      schema: {
        ...shapes.describe('checkAbuseIpdb', 'Look up an address, as AbuseIPDB’s API'),
        querystring: shapes.CheckParameters,
        response: shapes.responses(shapes.CheckResult),
      },
    },
    async (request) => {
      const parameters = parametersOf(request)
      const { ip, subject } = readIp(parameters, 'ipAddress')
      const age = readInteger(parameters, 'maxAgeInDays', AGE)
      const now = abuse.clock()
      const facts = subject
        ? describeAddress(subject, await abuse.lookup(subject.key), abuse, now)
        : null
      const isRecent = (facts?.lastReportedAt?.getTime() ?? 0) > now - age * DAY_MS
      const data = {
        ...addressFacts(ip, subject !== null),
        isWhitelisted: facts ? facts.listingState === 'whitelisted' : null,
        abuseConfidenceScore: isRecent ? Math.round(facts?.score ?? 0) : 0,
        isp: subject ? attackerNetworkOf(abuse.systems, subject.key).name || null : null,
        totalReports: isRecent ? (facts?.totalReports ?? 0) : 0,
        numDistinctUsers: isRecent ? (facts?.distinctReporters ?? 0) : 0,
        lastReportedAt: isRecent ? timeOf(facts?.lastReportedAt ?? null) : null,
      }
      if (!readFlag(parameters, 'verbose')) return { data }
      return { data: { ...data, countryName: null, reports: reportsOf(facts, now, age) } }
    },
  )
}

function addressFacts(ip: string, isPublic: boolean) {
  return {
    ipAddress: ip,
    isPublic,
    ipVersion: ip.includes(':') ? (6 as const) : (4 as const),
    countryCode: null,
    usageType: null,
    domain: null,
    hostnames: [],
    isTor: false,
  }
}

/** Reports of the last days, newest first. What a report said is not stored, so there is no comment. */
function reportsOf(facts: AddressDescription | null, now: number, days: number) {
  return (facts?.evidence ?? [])
    .filter(({ at }) => at.getTime() > now - days * DAY_MS)
    .map(({ service, at, reporter }) => ({
      reportedAt: timeOf(at),
      comment: '',
      categories: categoriesOf(service),
      reporterId: numberOf(reporter),
      reporterCountryCode: null,
      reporterCountryName: null,
    }))
}

/** A number in place of a pseudonym, which is valid for this address only. */
const numberOf = (pseudonym: string) => Buffer.from(pseudonym).readUIntBE(0, 6)

function reportsRoute(app: App, abuse: AttackList, guard: Guard): void {
  app.get(
    '/api/v2/reports',
    {
      config: { limit: 'address look-ups', key: 'report token' },
      preValidation: guard('reports'),
      schema: {
        ...shapes.describe(
          'listAbuseIpdbReports',
          'List the reports of an address, as AbuseIPDB’s API',
        ),
        querystring: shapes.ReportsParameters,
        response: shapes.responses(shapes.ReportPage),
      },
    },
    async (request) => {
      const parameters = parametersOf(request)
      const { ip, subject } = readIp(parameters, 'ipAddress')
      const age = readInteger(parameters, 'maxAgeInDays', AGE)
      const page = readInteger(parameters, 'page', { min: 1, max: 100_000, byDefault: 1 })
      const perPage = readInteger(parameters, 'perPage', { min: 1, max: 100, byDefault: 25 })
      const now = abuse.clock()
      const facts = subject
        ? describeAddress(subject, await abuse.lookup(subject.key), abuse, now)
        : null
      const all = reportsOf(facts, now, age)
      const results = all.slice((page - 1) * perPage, page * perPage)
      const lastPage = Math.max(1, Math.ceil(all.length / perPage))
      const urlOf = (number: number) =>
        number >= 1 && number <= lastPage && number !== page
          ? `${abuse.reportsUrl}/api/v2/reports?${new URLSearchParams({ ipAddress: ip, maxAgeInDays: String(age), perPage: String(perPage), page: String(number) }).toString()}`
          : null
      const data = {
        total: all.length,
        page,
        count: results.length,
        perPage,
        lastPage,
        nextPageUrl: urlOf(page + 1),
        previousPageUrl: urlOf(page - 1),
        results,
      }
      return { data }
    },
  )
}

function blockRoute(app: App, { db, clock }: Pick<AttackList, 'db' | 'clock'>, guard: Guard): void {
  app.get(
    '/api/v2/check-block',
    {
      config: { limit: 'address look-ups', key: 'report token' },
      preValidation: guard('check-block'),
      schema: {
        ...shapes.describe(
          'checkAbuseIpdbBlock',
          'List the reported addresses of a network, as AbuseIPDB’s API',
        ),
        querystring: shapes.BlockParameters,
        response: shapes.responses(shapes.BlockResult),
      },
    },
    async (request) => {
      const parameters = parametersOf(request)
      const network = readNetwork(parameters)
      const age = readInteger(parameters, 'maxAgeInDays', AGE)
      const since = new Date(clock() - age * DAY_MS)
      const found = await listReportedIn(db, network.cidr, { since, limit: MAX_REPORTED })
      const data = {
        networkAddress: network.first,
        netmask: network.netmask,
        minAddress: network.first,
        maxAddress: network.last,
        numPossibleHosts: network.hosts,
        addressSpaceDesc: 'Internet',
        reportedAddress: found.map(({ address, score, totalReports, lastReportedAt }) => ({
          ipAddress: address,
          numReports: totalReports,
          mostRecentReport: timeOf(lastReportedAt),
          abuseConfidenceScore: Math.round(score),
          countryCode: null,
        })),
      }
      return { data }
    },
  )
}
