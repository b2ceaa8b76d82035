import type { Person, TestService } from '../service.ts'

/**
 * Sends a request of a person: POST with a body, otherwise GET.
 * @returns the data of the response, or all of it where it has no `data`
 */
export async function askAs(
  portreeve: TestService,
  { token }: Person,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
) {
  const response = await portreeve.request(`/api/v1/${path}`, {
    method,
    token,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body ? JSON.stringify(body) : null,
  })
  const text = await response.text()
  const json = JSON.parse(text) as { data?: never }
  return { status: response.status, text, data: (json.data ?? json) as never }
}
