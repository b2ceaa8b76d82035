import type { TestService, Person } from '../service.ts'
import { cookieOf } from './module.ts'

/**
 * Signs a user in.
 * @returns sends requests as the user’s browser on the service’s own page
 */
export async function browserOf(
  portreeve: TestService,
  { email, password }: Pick<Person, 'email' | 'password'>,
  more: Record<string, string> = {},
) {
  const headers = {
    ...more,
    'content-type': 'application/json',
    origin: new URL(portreeve.url).origin,
  }
  const body = JSON.stringify({ email, password })
  const signedIn = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers,
    body,
  })
  const cookie = cookieOf(signedIn.headers)
  return (path: string, method = 'GET', given?: object) =>
    portreeve.request(path, {
      method,
      headers: { ...headers, cookie },
      body: given ? JSON.stringify(given) : null,
    })
}
