import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { AreaField, FieldRow, Form, SelectField, TextField } from '../../ui/forms/form.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import {
  destinationsOf,
  destinationsQuery,
  type ForwardedPreview,
  type RequestDetails,
} from '../api.ts'
import classes from '../body/code.module.css'
import { headersText, parseHeaders } from '../endpoint-settings.ts'
import { destinationName } from '../forwarding/destination-values.ts'
import { ruleForm, sentMethods, sendAgain as messages } from '../messages.ts'
import { editOf } from './edit-values.ts'

type SendViewProps = { endpointId: string; request: RequestDetails['request'] }
type Result = { sent: true } | { preview: ForwardedPreview }

/** Sends a request to a destination, as it was captured or edited, after a look at what arrives. */
export function SendView({ endpointId, request }: SendViewProps) {
  const access = useAccess()
  const { data: destinations, error } = useQuery(destinationsQuery(endpointId))
  const [result, setResult] = useState<Result | null>(null)
  const own = destinationsOf(endpointId)
  const isText = request.bodyEncoding === 'utf8' && !request.truncated

  function given(values: Record<string, string>) {
    const edit = editOf(request, values)
    return { requestId: request.id, ...(edit && { edit }) }
  }
  async function send(values: Record<string, string>): Promise<void> {
    setResult(null)
    await own.forward(values['destination'] ?? '', given(values))
    setResult({ sent: true })
  }
  async function preview(values: Record<string, string>): Promise<void> {
    setResult(null)
    setResult({ preview: await own.preview(values['destination'] ?? '', given(values)) })
  }

  if (destinations?.length === 0)
    return (
      <p>
        <Muted>{messages.none}</Muted>{' '}
        <Link to="/hooks/$id/destinations" params={{ id: endpointId }}>
          {messages.add}
        </Link>
      </p>
    )
  return (
    <Stack>
      <LoadingOrError there={destinations} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {destinations && (
        <Form
          {...access}
          onSubmit={send}
          submit={messages.send}
          also={{ submit: messages.preview, onSubmit: preview }}
          check={({ headers = '' }): Record<string, string> =>
            parseHeaders(headers) === null ? { headers: ruleForm.wrongHeader } : {}
          }
        >
          <SelectField
            name="destination"
            label={messages.destination}
            choices={destinations.map((each) => ({ value: each.id, label: destinationName(each) }))}
          />
          <FieldRow>
            <SelectField
              name="method"
              label={messages.method}
              choices={sentMethods(request.method)}
              defaultValue={request.method}
            />
            <TextField
              name="path"
              autoComplete="on"
              label={messages.path}
              defaultValue={request.path}
            />
            <TextField
              name="query"
              autoComplete="on"
              label={messages.query}
              defaultValue={request.query}
            />
          </FieldRow>
          <AreaField
            name="headers"
            label={messages.headers}
            rows={6}
            defaultValue={headersText(request.headers)}
          />
          {isText ? (
            <AreaField name="body" label={messages.body} rows={8} defaultValue={request.body} />
          ) : (
            <Muted>{messages.bodyStays}</Muted>
          )}
        </Form>
      )}
      <div role="status">{result && <Shown result={result} />}</div>
    </Stack>
  )
}

function Shown({ result }: { result: Result }) {
  if ('sent' in result) return <Notice tone="good">{messages.sent}</Notice>
  const { matches, error, request } = result.preview
  return (
    <Stack>
      <Notice tone={matches && error === null ? 'info' : 'warn'}>
        {error ?? (matches ? messages.matches : messages.noMatch)}
      </Notice>
      {request && (
        <pre className={classes.code}>
          {`${request.method} ${request.url}\n${headersText(request.headers)}\n\n${
            request.bodyEncoding === 'utf8' ? request.body : messages.binary
          }`}
        </pre>
      )}
    </Stack>
  )
}
