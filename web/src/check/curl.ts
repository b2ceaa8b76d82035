/** A command that asks this service what a screen asked it. Without a token it reads one from the environment. */
export function curlOf(path: string, token = '$PORTREEVE_TOKEN'): string {
  return `curl -H "Authorization: Bearer ${token}" "${window.location.origin}${path}"`
}
