import type { TestService, Person } from '../service.ts'
import { cookieOf } from './module.ts'

/**
 * Makes an administrator with the cookie of a session in place of an API token, with which
 * administrators only read.
 */
export async function addAdministrator(portreeve: TestService, name: string): Promise<Person> {
  const person = await portreeve.addPerson(name, { admin: true })
  return { ...person, token: await signIn(portreeve, person) }
}

async function signIn(
  portreeve: TestService,
  { email, password }: Pick<Person, 'email' | 'password'>,
  more: Record<string, string> = {},
): Promise<string> {
  const { headers } = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers: {
      ...more,
      'content-type': 'application/json',
      origin: new URL(portreeve.url).origin,
    },
    body: JSON.stringify({ email, password }),
  })
  return cookieOf(headers)
}

/**
 * Signs a user in.
 * @returns sends requests as the user’s browser on the service’s own page
 */
export async function browserOf(
  portreeve: TestService,
  person: Pick<Person, 'email' | 'password'>,
  more: Record<string, string> = {},
) {
  const headers = {
    ...more,
    'content-type': 'application/json',
    origin: new URL(portreeve.url).origin,
  }
  const cookie = await signIn(portreeve, person, more)
  return (path: string, method = 'GET', given?: object) =>
    portreeve.request(path, {
      method,
      headers: { ...headers, cookie },
      body: given ? JSON.stringify(given) : null,
    })
}
