import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { generateKeyPair, SignJWT } from 'jose'
import type { TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import {
  DomainComplianceStatus,
  QueryDomainStatsRequest,
  QueryDomainStatsResponse,
} from './postmaster-schema.ts'

export type ProviderStatistics = Awaited<ReturnType<typeof startProviderStatistics>>

type Answer = { status: number; body: string; headers?: Record<string, string> }
type Value = { floatValue?: number; doubleValue?: number; intValue?: string } & {
  stringList?: { values: string[] }
}

const GOOGLE_CLIENT = { id: 'google-client', secret: 'the-secret-of-the-google-client' }
export const SNDS_LINKS = {
  data: 'https://substrate.office.com/ip-domain-management-snds/SNDS/DataKey?key=11111111-secret',
  status: 'https://sendersupport.olc.protection.outlook.com/snds/ipStatus.aspx?key=22222222-secret',
}

const SNDS_CLIENT_ID = 'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c'
/** The tenant of personal accounts. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'

const json = (body: object, status = 200, headers = {}): Answer => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})

const MICROSOFT = 'https://login.microsoftonline.com'
const SNDS_API = '/ip-domain-management-snds/api/report/'

/** What Microsoft knows of a person who signs in, and answers to them. */
export const newMicrosoft = () => ({
  person: 'mary',
  /** The number of the latest access and refresh token. */
  tokens: 0,
  refreshes: 0,
  rejectedTokens: 0,
  tokenError: null as string | null,
  tokenErrorText: 'AADSTS70000: The grant has ended.',
  started: { code: '', redirectUri: '', nonce: '', challenge: '' },
  requests: [] as string[],
  /** In place of all answers of the API. */
  answer: null as Answer | null,
  /** By day (YYYY-MM-DD). */
  days: {} as Record<string, Answer | undefined>,
  status: { status: 404, body: '' } as Answer,
  /** What paths must end with. */
  ending: '' as '' | '/',
})

/** An error as Google APIs return them (google.rpc.Status). */
export const googleError = (
  code: number,
  status: string,
  message: string,
  reason?: string,
  headers = {},
): Answer =>
  json(
    {
      error: {
        code,
        status,
        message,
        ...(reason !== undefined && {
          details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }],
        }),
      },
    },
    code,
    headers,
  )

/**
 * Plays Google’s sign-in and Postmaster Tools API, and Microsoft’s sign-in, links and REST API of SNDS.
 * Requests and answers of Google’s API are validated against its schema; `faults` has what does not
 * match, or what Microsoft would not accept.
 */
export async function startProviderStatistics() {
  const { privateKey } = await generateKeyPair('RS256')
  let tokens = 0
  const state = {
    /** By domain, metric (with its filter) and day. */
    stats: {} as Record<string, Record<string, Record<string, Value>>>,
    compliance: {} as Record<string, object>,
    /** In place of the answer about a domain, or about all (`*`). */
    answers: {} as Record<string, Answer | undefined>,
    /** The rejection of the token endpoint. */
    tokenError: null as string | null,
    scope: 'openid email https://www.googleapis.com/auth/postmaster.traffic.readonly',
    person: 'alice',
    nonce: '',
    refreshes: 0,
    /** Tokens up to this number are rejected. */
    rejectedTokens: 0,
    rejectsCurrentTokens: () => void (state.rejectedTokens = tokens),
    pageSize: 200,
    endlessPages: false,
    unknownMetrics: [] as string[],
    requests: [] as { path: string; body: Record<string, unknown> | null }[],
    faults: [] as unknown[],
    revocations: 0,
    snds: {
      data: { status: 200, body: '' } as Answer,
      status: { status: 200, body: '' } as Answer,
    },
    microsoft: newMicrosoft(),
  }

  function judge(schema: TSchema, value: unknown): void {
    for (const { instancePath, message } of Errors(schema, value))
      state.faults.push(`${instancePath} ${message}`)
  }

  async function token(request: IncomingMessage): Promise<Answer> {
    const form = new URLSearchParams(await text(request))
    if (state.tokenError !== null)
      return json({ error: state.tokenError, error_description: 'Token has been revoked.' }, 400)
    const isRefresh = form.get('grant_type') === 'refresh_token'
    if (isRefresh) state.refreshes += 1
    tokens += 1
    const claims = { email: `${state.person}@gmail.test`, nonce: state.nonce }
    const idToken = await new SignJWT(isRefresh ? { email: claims.email } : claims)
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer('https://accounts.google.com')
      .setSubject(state.person)
      .setAudience(GOOGLE_CLIENT.id)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
    return json({
      access_token: `token-${tokens}`,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: state.scope,
      id_token: idToken,
      ...(!isRefresh && { refresh_token: `refresh-${tokens}` }),
    })
  }

  async function api(request: IncomingMessage, path: string): Promise<Answer> {
    const received = await text(request)
    const body = received === '' ? null : (JSON.parse(received) as Record<string, unknown>)
    state.requests.push({ path, body })
    const sent = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (!(Number(sent.replace('token-', '')) > state.rejectedTokens))
      return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    const [, domain = '', what = ''] =
      /^\/v2\/domains\/([^/]+)\/(domainStats:query|complianceStatus)$/.exec(path) ?? []
    const planned =
      state.answers[`${domain} ${what}`] ?? state.answers[domain] ?? state.answers['*']
    if (planned) return planned
    if (what === 'complianceStatus') {
      const answer = { name: `domains/${domain}/complianceStatus`, ...state.compliance[domain] }
      judge(DomainComplianceStatus, answer)
      return json(answer)
    }
    if (what !== 'domainStats:query' || !state.stats[domain])
      return googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission')
    judge(QueryDomainStatsRequest, body)
    if (state.unknownMetrics.some((metric) => received.includes(`"${metric}"`)))
      return googleError(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.')
    const answer = answerStats(domain, body as never)
    judge(QueryDomainStatsResponse, answer)
    return json(answer)
  }

  type Query = {
    metricDefinitions: {
      name: string
      baseMetric: { standardMetric: string }
      filter?: string
    }[]
    timeQuery: { dateRanges: { dateRanges: { start: DateParts; end: DateParts }[] } }
    pageToken?: string
  }
  type DateParts = { year: number; month: number; day: number }

  function answerStats(domain: string, query: Query) {
    const [range] = query.timeQuery.dateRanges.dateRanges
    const key = ({ year, month, day }: DateParts) =>
      new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
    const [from, to] = range ? [key(range.start), key(range.end)] : ['', '']
    const all = query.metricDefinitions.flatMap(({ name, baseMetric, filter }) => {
      const metric = [baseMetric.standardMetric, filter].filter(Boolean).join(' ')
      return Object.entries(state.stats[domain]?.[metric] ?? {})
        .filter(([day]) => day >= from && day <= to)
        .map(([day, value]) => {
          const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
          return {
            name: `domains/${domain}/domainStats/${name}-${day}`.replaceAll(' ', '_'),
            metric: name,
            date: { year, month, day: date },
            value,
          }
        })
    })
    const start = Number(query.pageToken ?? 0)
    const domainStats = all.slice(start, start + state.pageSize)
    const next = start + state.pageSize
    const hasMore = state.endlessPages || next < all.length
    return {
      ...(domainStats.length > 0 && { domainStats }),
      ...(hasMore && { nextPageToken: String(next) }),
    }
  }

  /** The sign-in of Microsoft for the client of the SNDS portal, which has no secret. */
  async function microsoftToken(request: IncomingMessage): Promise<Answer> {
    const { microsoft } = state
    const form = new URLSearchParams(await text(request))
    const rejection = (error: string, description: string) =>
      json({ error, error_description: description }, 400)
    // Microsoft takes a request with an origin for one of a web page.
    if (request.headers.origin !== undefined)
      return rejection('invalid_request', 'AADSTS90023: Cross-origin token redemption.')
    if (form.get('client_id') !== SNDS_CLIENT_ID || form.has('client_secret'))
      state.faults.push(`client ${form.toString()}`)
    if (!form.get('scope')?.startsWith(`${SNDS_CLIENT_ID}/.default offline_access`))
      state.faults.push(`scope ${form.toString()}`)
    if (microsoft.tokenError !== null)
      return rejection(microsoft.tokenError, microsoft.tokenErrorText)
    const { started } = microsoft
    if (form.get('grant_type') === 'authorization_code') {
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const isStarted =
        form.get('code') === started.code &&
        challenge === started.challenge &&
        form.get('redirect_uri') === started.redirectUri
      if (!isStarted) return rejection('invalid_grant', 'AADSTS70000: The code is not valid.')
      started.code = ''
    } else {
      microsoft.refreshes += 1
      if (form.get('refresh_token') !== `ms-refresh-${microsoft.tokens}`)
        return rejection('invalid_grant', 'AADSTS70000: The refresh token was used before.')
    }
    microsoft.tokens += 1
    const idToken = await new SignJWT({
      preferred_username: `${microsoft.person}@outlook.test`,
      tid: CONSUMERS,
      nonce: started.nonce,
    })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(`https://login.microsoftonline.com/${CONSUMERS}/v2.0`)
      .setSubject(microsoft.person)
      .setAudience(SNDS_CLIENT_ID)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey)
    return json({
      access_token: `ms-token-${microsoft.tokens}`,
      refresh_token: `ms-refresh-${microsoft.tokens}`,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: `${SNDS_CLIENT_ID}/Report.Read openid profile`,
      ...(form.get('grant_type') === 'authorization_code' && { id_token: idToken }),
    })
  }

  function microsoftPage(searchParams: URLSearchParams): Answer {
    const { microsoft } = state
    const redirectUri = searchParams.get('redirect_uri') ?? ''
    if (searchParams.get('client_id') !== SNDS_CLIENT_ID || redirectUri !== 'http://localhost')
      state.faults.push(`redirect ${redirectUri}`)
    const code = `M.C5_code-${microsoft.tokens}`
    microsoft.started = {
      code,
      redirectUri,
      nonce: searchParams.get('nonce') ?? '',
      challenge: searchParams.get('code_challenge') ?? '',
    }
    const back = new URL(redirectUri)
    back.search = new URLSearchParams({
      code,
      state: searchParams.get('state') ?? '',
      session_state: 'f00',
    }).toString()
    return { status: 302, body: '', headers: { location: back.href } }
  }

  function sndsApi(request: IncomingMessage, path: string): Answer {
    const { microsoft } = state
    microsoft.requests.push(path)
    const sent = request.headers.authorization?.replace('Bearer ms-token-', '') ?? ''
    if (!(Number(sent) > microsoft.rejectedTokens)) return { status: 401, body: '' }
    if (microsoft.answer) return microsoft.answer
    const [, what = '', ending = ''] = /^(.+?)(\/?)$/.exec(path) ?? []
    if (ending !== microsoft.ending) return { status: 404, body: '' }
    if (what === 'status/ip') return microsoft.status
    return microsoft.days[what.replace('data/', '')] ?? { status: 404, body: '' }
  }

  async function respond(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake.test')
    if (pathname === '/.well-known/openid-configuration')
      return json({
        issuer: 'https://accounts.google.com',
        authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
        token_endpoint: 'https://oauth2.googleapis.com/token',
        revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
        jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
        response_types_supported: ['code'],
      })
    if (pathname === '/token') return token(request)
    if (pathname === '/revoke') {
      state.revocations += 1
      return json({})
    }
    if (pathname === '/o/oauth2/v2/auth') {
      // The person has signed in and allowed everything.
      state.nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', 'a-code')
      back.searchParams.set('state', searchParams.get('state') ?? '')
      return { status: 302, body: '', headers: { location: back.href } }
    }
    if (pathname === '/consumers/v2.0/.well-known/openid-configuration')
      return json({
        issuer: `https://login.microsoftonline.com/${CONSUMERS}/v2.0`,
        authorization_endpoint: `${MICROSOFT}/consumers/oauth2/v2.0/authorize`,
        token_endpoint: `${MICROSOFT}/consumers/oauth2/v2.0/token`,
        jwks_uri: `${MICROSOFT}/consumers/discovery/v2.0/keys`,
        response_types_supported: ['code', 'id_token'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    if (pathname === '/consumers/oauth2/v2.0/authorize') return microsoftPage(searchParams)
    if (pathname === '/consumers/oauth2/v2.0/token') return microsoftToken(request)
    if (pathname.startsWith(SNDS_API)) return sndsApi(request, pathname.slice(SNDS_API.length))
    if (pathname.endsWith('/DataKey')) return state.snds.data
    if (pathname.endsWith('/ipStatus.aspx')) return state.snds.status
    return api(request, decodeURIComponent(pathname))
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void respond(request).then(
      ({ status, body, headers }) => response.writeHead(status, headers).end(body),
      (error: unknown) => {
        state.faults.push(error)
        response.writeHead(500).end()
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    state,
    /** For `providerOrigins` of the service. */
    origins: new Map(
      [
        'https://accounts.google.com',
        'https://oauth2.googleapis.com',
        'https://gmailpostmastertools.googleapis.com',
        MICROSOFT,
        'https://substrate.office.com',
        'https://sendersupport.olc.protection.outlook.com',
      ].map((origin) => [origin, url]),
    ),
    settings: {
      OAUTH_GOOGLE_CLIENT_ID: GOOGLE_CLIENT.id,
      OAUTH_GOOGLE_CLIENT_SECRET: GOOGLE_CLIENT.secret,
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
