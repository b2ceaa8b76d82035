import type { House, Person } from '../house.ts'
import { cookieOf } from './room.ts'

/** Signs somebody in. @returns how to ask as their browser on our own page */
export async function browserOf(
  house: House,
  { email, password }: Pick<Person, 'email' | 'password'>,
  more: Record<string, string> = {},
) {
  const headers = { ...more, 'content-type': 'application/json', origin: new URL(house.url).origin }
  const body = JSON.stringify({ email, password })
  const signedIn = await house.request('/api/auth/sign-in/email', { method: 'POST', headers, body })
  const cookie = cookieOf(signedIn.headers)
  return (path: string, method = 'GET', given?: object) =>
    house.request(path, { method, headers: { ...headers, cookie }, body: given ? JSON.stringify(given) : null })
}
