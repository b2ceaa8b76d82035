import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { MailTest, MailTestList, SharedMailTest } from '../../../src/deliverability/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { searchOf } from '../search.ts'

export type {
  ListedMailTest,
  MailBackground,
  MailEngine,
  MailFinding,
  MailReceiver,
  MailTest,
  SharedMailTest,
  TestMailResult,
} from '../../../src/deliverability/shapes.ts'

export type MailTestPage = Static<typeof MailTestList>

const PATH = '/api/v1/mail-tests'

/** The tests of a domain, or of the workspace; newest first. */
export const mailTestsQuery = (domain: string | null, page = 1) =>
  queryOptions({
    queryKey: ['mail-tests', 'list', domain, page],
    queryFn: ({ signal }) =>
      request<MailTestPage>(
        'GET',
        `${PATH}?${searchOf({ page, ...(domain !== null && { domain }) })}`,
        { signal },
      ),
  })

export const mailTestQuery = (id: string) =>
  queryOptions({
    queryKey: ['mail-tests', 'one', id],
    queryFn: async ({ signal }) =>
      (await request<ApiResponse<MailTest>>('GET', `${PATH}/${id}`, { signal })).data,
  })

export const sharedMailTestQuery = (token: string) =>
  queryOptions({
    queryKey: ['shared-mail-test', token],
    queryFn: async ({ signal }) =>
      (
        await request<ApiResponse<SharedMailTest>>(
          'GET',
          `/api/v1/shared-mail-tests/${encodeURIComponent(token)}`,
          { signal },
        )
      ).data,
    retry: false,
  })

const send = async (method: string, path: string, body?: object) =>
  (await request<ApiResponse<MailTest>>(method, `${PATH}${path}`, body && { body })).data

export const mailTests = {
  create: (domain: string | null) => send('POST', '', domain === null ? {} : { domain }),
  /** @param message in Base64 */
  testFile: (domain: string | null, message: string) =>
    send('POST', '/raw', { message, encoding: 'base64', ...(domain !== null && { domain }) }),
  share: (id: string) => send('POST', `/${id}/share`),
  endShare: (id: string) => send('DELETE', `/${id}/share`),
  remove: (id: string) => request('DELETE', `${PATH}/${id}`),
}
