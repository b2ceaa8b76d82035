/** The header for an API token, or for the cookie of a session in its place. */
export function credentialsOf(token: string): Record<string, string> {
  return /^(?:__Host-)?portreeve\./.test(token)
    ? { cookie: token }
    : { authorization: `Bearer ${token}` }
}
