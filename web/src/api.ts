import type { Static } from 'typebox'
import { inService } from './base-path.ts'
import type {
  IssuedToken,
  Myself,
  NewToken,
  ServiceInfo,
  Token,
} from '../../src/accounts/shapes.ts'
import { takeEarlyResponse } from './early-responses.ts'
import { messages } from './messages.ts'
import { passwordPrompt, type Prompt } from './prompt.ts'
import { checkReachable } from './reachability.ts'
import { signInPrompt } from './session.ts'
import { chooseWorkspace, chosenWorkspace, loseWorkspace } from './workspace-choice.ts'

export type Account = Static<typeof Myself>

export type Role = Account['role']
export type ServiceFacts = Static<typeof ServiceInfo>
export type ApiToken = Static<typeof Token>
export type WantedToken = Static<typeof NewToken>
export type NewApiToken = Static<typeof IssuedToken>

/** A failed request: the message, the stable code, and the problems of single fields. */
export class ApiError extends Error {
  /** HTTP status; 0 when the service could not be reached. */
  readonly status: number
  readonly code: string
  readonly details: { path: string; message: string }[]

  constructor(
    status: number,
    answer: { error?: string; message?: string; code?: string; details?: ApiError['details'] },
  ) {
    super(messageOf(answer) ?? messages.unexpectedStatus(status))
    this.name = 'ApiError'
    this.status = status
    this.code = answer.code ?? 'unknown'
    this.details = answer.details ?? []
  }
}

/** The API's message, or the dashboard's own where the API speaks to programs. */
function messageOf({
  error,
  message,
  code,
}: {
  error?: string
  message?: string
  code?: string
}): string | undefined {
  if (code === 'unauthenticated' || code === 'UNAUTHORIZED') return messages.sessionExpired
  if (code === 'INVALID_EMAIL_OR_PASSWORD') return messages.wrongCredentials
  if (code === 'INVALID_PASSWORD') return messages.wrongCurrentPassword
  if (code && code in messages.twoFactor)
    return messages.twoFactor[code as keyof typeof messages.twoFactor]
  return error ?? message
}

const ACCOUNT_PATH = '/api/v1/account'

const UNREACHABLE = { error: messages.unreachable, code: 'unreachable' }

/**
 * Browsers send up to 64 KiB for pages that were closed; at three bytes a character, this leaves
 * room for other requests.
 */
const MAX_KEEPALIVE_CHARS = 4000

/** @property workspace the workspace of the request; by default that of this tab */
type Options = { body?: object; signal?: AbortSignal; workspace?: string | null }

/** What the user can do about a rejected request, by its code; the request is repeated then. */
const PROMPTS: Record<string, Prompt> = {
  reauthenticate: passwordPrompt,
  unauthenticated: signInPrompt,
  // The authentication library’s own code.
  UNAUTHORIZED: signInPrompt,
}

/**
 * Sends a request with JSON or a form of files. Each module has its own requests in its `api.ts`.
 * A change is sent with `keepalive`, because the page may show it as done and be closed at once.
 * Where the service requires a session or a recent sign-in, asks for it over the screen and repeats
 * the request.
 */
export async function request<T>(method: string, path: string, options: Options = {}): Promise<T> {
  // The repeated request is for the same workspace as the first one.
  const { workspace = chosenWorkspace() } = options
  try {
    return await send<T>(method, path, { ...options, workspace })
  } catch (error) {
    const prompt = error instanceof ApiError && PROMPTS[error.code]
    if (!prompt || !(await prompt.ask(method !== 'GET'))) throw error
    return send<T>(method, path, { ...options, workspace })
  }
}

/** Whether a retry may help: the service is unreachable or temporarily unavailable. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.status === 0 || UNREACHABLE_STATUSES.includes(error.status))
  )
}

/** Statuses of a service that is stopping or starting, and of a proxy before it. */
const UNREACHABLE_STATUSES = [502, 503, 504]

async function send<T>(method: string, path: string, options: Options): Promise<T> {
  const { body, signal, workspace = chosenWorkspace() } = options
  const isForm = body instanceof FormData
  const json = body && !isForm ? JSON.stringify(body) : ''
  const keepalive = method !== 'GET' && !isForm && json.length <= MAX_KEEPALIVE_CHARS
  const headers = new Headers()
  if (workspace !== null) headers.set('x-workspace', workspace)
  if (json) headers.set('content-type', 'application/json')
  const init: RequestInit = { method, credentials: 'same-origin', keepalive, headers }
  if (isForm) init.body = body
  else if (json) init.body = json
  if (signal) init.signal = signal
  const early = method === 'GET' ? takeEarlyResponse(path, workspace) : null
  const response =
    (await early) ??
    (await fetch(inService(path), init).catch((error: unknown) => {
      if (signal?.aborted) throw error
      void checkReachable()
      throw new ApiError(0, UNREACHABLE)
    }))
  if (UNREACHABLE_STATUSES.includes(response.status)) void checkReachable()
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) {
    const error = new ApiError(response.status, answer ?? {})
    // A change is not repeated: it would happen in another workspace.
    if (error.code === 'not_a_member' && workspace !== null) loseWorkspace(workspace)
    throw error
  }
  if (method !== 'GET') changeHandlers.forEach((handler) => handler())
  return answer as T
}

const changeHandlers = new Set<() => void>()

/** Calls the handler after each change that this tab has sent. @returns stops it */
export function followOwnChanges(handler: () => void): () => void {
  changeHandlers.add(handler)
  return () => void changeHandlers.delete(handler)
}

/** The envelope of most responses. */
export type ApiResponse<T> = { success: true; data: T }

export const api = {
  service: async () => (await request<ApiResponse<ServiceFacts>>('GET', '/api/v1/service')).data,

  /** The signed-in account; null without a session. */
  account: async (): Promise<Account | null> => {
    const chosen = chosenWorkspace()
    try {
      return (await send<ApiResponse<Account>>('GET', ACCOUNT_PATH, {})).data
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      // That the chosen workspace is lost is known now; there is always a first one.
      if (error instanceof ApiError && error.code === 'not_a_member' && chosen !== null)
        return api.account()
      throw error
    }
  },
  setUp: (person: { token: string; email: string; password: string; name?: string }) =>
    request<ApiResponse<unknown>>('POST', '/api/v1/setup', { body: person }),
  signUp: (person: { name: string; email: string; password: string }) =>
    request<unknown>('POST', '/api/auth/sign-up/email', { body: person }),
  /** Creates the account of the link in a sign-up email. */
  confirmSignUp: async (token: string) =>
    (
      await request<ApiResponse<{ email: string }>>('POST', '/api/v1/sign-up/confirm', {
        body: { token },
      })
    ).data,
  /** @returns whether a code of the second factor is needed before the session opens */
  signIn: async (credentials: { email: string; password: string }): Promise<boolean> => {
    const answer = await request<{ twoFactorRedirect?: true }>('POST', '/api/auth/sign-in/email', {
      body: credentials,
    })
    return answer.twoFactorRedirect === true
  },
  /** Opens a session of a demo, which has another workspace each day. */
  enterDemo: async () => {
    chooseWorkspace(null)
    await request<unknown>('POST', '/api/v1/demo/session', { body: {} })
  },
  /** Ends the session, and forgets the workspace: the next account has others. */
  signOut: async () => {
    await request<unknown>('POST', '/api/auth/sign-out', { body: {} })
    chooseWorkspace(null)
  },

  tokens: async () => (await request<ApiResponse<ApiToken[]>>('GET', '/api/v1/tokens')).data,
  createToken: (wanted: WantedToken) =>
    request<NewApiToken>('POST', '/api/v1/tokens', { body: wanted }),
  revokeToken: (id: string) => request<unknown>('DELETE', `/api/v1/tokens/${id}`),
}
