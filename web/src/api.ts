import type { Static } from 'typebox'
import type { IssuedToken, Myself, ServiceInfo, Token } from '../../src/accounts/shapes.ts'
import { confirmPassword } from './confirm-password.ts'

export type Account = Static<typeof Myself>
export type ServiceFacts = Static<typeof ServiceInfo>
export type ApiToken = Static<typeof Token>
export type NewApiToken = Static<typeof IssuedToken>

/** What the service answered in place of a result: its sentence, its stable word, and what is wrong with single fields. */
export class ApiError extends Error {
  /** HTTP status; 0 when nothing answered. */
  readonly status: number
  readonly code: string
  readonly details: { path: string; message: string }[]

  constructor(
    status: number,
    answer: { error?: string; message?: string; code?: string; details?: ApiError['details'] },
  ) {
    super(answer.error ?? answer.message ?? `The service answered with status ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = answer.code ?? 'unknown'
    this.details = answer.details ?? []
  }
}

const UNREACHABLE = { error: 'The service does not answer. Is it running, and are you online?', code: 'unreachable' }

/** Browsers carry at most 64 KiB for pages that were left; of three bytes a character, this leaves room for others. */
const MAX_KEEPALIVE_CHARS = 4000

type Options = { body?: object; signal?: AbortSignal }

/**
 * Asks the service, with JSON or a form of files. Each room has its own questions in its `api.ts`.
 * A change reaches the service also when the page is left at once: it may already be shown as made.
 * Where the service wants to know again who is there, the person is asked for the password and the request repeated.
 */
export async function request<T>(method: string, path: string, options: Options = {}): Promise<T> {
  try {
    return await send<T>(method, path, options)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'reauthenticate') throw error
    if (!(await confirmPassword())) throw error
    return send<T>(method, path, options)
  }
}

async function send<T>(method: string, path: string, { body, signal }: Options): Promise<T> {
  const isForm = body instanceof FormData
  const json = body && !isForm ? JSON.stringify(body) : ''
  const keepalive = method !== 'GET' && !isForm && json.length <= MAX_KEEPALIVE_CHARS
  const init: RequestInit = { method, credentials: 'same-origin', keepalive }
  if (isForm) init.body = body
  else if (json) Object.assign(init, { body: json, headers: { 'content-type': 'application/json' } })
  if (signal) init.signal = signal
  const response = await fetch(path, init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, UNREACHABLE)
  })
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw new ApiError(response.status, answer ?? {})
  return answer as T
}

/** What most answers are wrapped in. */
export type ApiResponse<T> = { success: true; data: T }

export const api = {
  service: async () => (await request<ApiResponse<ServiceFacts>>('GET', '/api/v1/service')).data,

  /** Who is signed in; null when nobody is. */
  account: async (): Promise<Account | null> => {
    try {
      return (await request<ApiResponse<Account>>('GET', '/api/v1/account')).data
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
  setUp: (person: { token: string; email: string; password: string; name?: string }) =>
    request<ApiResponse<unknown>>('POST', '/api/v1/setup', { body: person }),
  /** Creates the account of the link in a sign-up mail. */
  confirmSignUp: async (token: string) =>
    (await request<ApiResponse<{ email: string }>>('POST', '/api/v1/sign-up/confirm', { body: { token } })).data,
  signIn: (credentials: { email: string; password: string }) =>
    request<unknown>('POST', '/api/auth/sign-in/email', { body: credentials }),
  signOut: () => request<unknown>('POST', '/api/auth/sign-out', { body: {} }),

  tokens: async () => (await request<ApiResponse<ApiToken[]>>('GET', '/api/v1/tokens')).data,
  createToken: (label: string) => request<NewApiToken>('POST', '/api/v1/tokens', { body: { label } }),
  revokeToken: (id: string) => request<unknown>('DELETE', `/api/v1/tokens/${id}`),
}
