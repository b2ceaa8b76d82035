import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { StorageLine } from '../account/storage.tsx'
import { useStreamState } from '../live-updates.ts'
import { deleteWithUndo } from '../deletions.ts'
import { MuteButton } from '../alerts/silence/mutes.tsx'
import { Button, ButtonLink, DownloadLink } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { ConnectionStatus } from '../ui/feedback/connection-status.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { endpointsQuery, harPath, webhooks, type Endpoint } from './api.ts'
import classes from './endpoint-head.module.css'
import { SendTest } from './first-request.tsx'
import { endpoint as messages, endpoints } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

/** The URL, the response, and whether the screen is live. */
export function EndpointAddress({ endpoint }: { endpoint: Endpoint }) {
  const { id, responseStatus, responseType, timeout, signature, emailAddress } = endpoint
  const url = endpoint.namedUrl ?? endpoint.url
  const link = useStreamState()
  return (
    <div className={classes.address}>
      <code className={classes.url}>{url}</code>
      <CopyButton text={url} what={messages.url} />
      {emailAddress !== null && (
        <>
          <code className={classes.url}>{emailAddress}</code>
          <CopyButton text={emailAddress} what={messages.email} />
        </>
      )}
      <SendTest endpoint={endpoint} />
      <ConnectionStatus link={link} />
      <span className={classes.answer}>
        <Link to="/hooks/$id/settings" params={{ id }}>
          {messages.responds(responseStatus, responseType.split(';')[0] ?? '', timeout)}
        </Link>
        {signature && <Muted>{messages.signatures(signature.scheme)}</Muted>}
      </span>
      <StorageLine name="captures">{endpoints.storage}</StorageLine>
    </div>
  )
}

export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const access = useAccess()
  const { id, label, token } = endpoint
  const { q, method } = useSearch({ from: '/own/hooks/$id' })
  const navigate = useNavigate({ from: '/hooks/$id' })

  async function clear(): Promise<void> {
    await webhooks.clear(id)
    await navigate({ search: {}, replace: true })
  }

  return (
    <Row>
      <DownloadLink href={harPath(id, { q, method })} name={`webhook-${token}.har`}>
        {messages.har}
      </DownloadLink>
      <ConfirmButton
        {...access}
        label={messages.clear}
        about={messages.clearAbout}
        title={messages.clearTitle}
        onConfirm={clear}
      >
        {messages.clearText(label || token)}
      </ConfirmButton>
      <MuteButton size="small" object={`/hooks/${id}`} name={label || token} />
      <ButtonLink size="small" to="/hooks/$id/rules" params={{ id }}>
        {messages.rules}
      </ButtonLink>
      <ButtonLink size="small" to="/hooks/$id/destinations" params={{ id }}>
        {messages.destinations}
      </ButtonLink>
      <ButtonLink size="small" icon="settings" to="/hooks/$id/settings" params={{ id }}>
        {messages.settings}
      </ButtonLink>
    </Row>
  )
}

/** The whole endpoint goes, and its address with it. */
export function DeleteEndpoint({ endpoint: { id, label, token } }: { endpoint: Endpoint }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.deleting(label || token),
      list: endpointsQuery.queryKey,
      send: () => webhooks.remove(id),
    })
    void navigate({ to: '/hooks' })
  }

  return (
    <>
      <Muted>{messages.deleteText}</Muted>
      <div>
        <Button {...access} kind="danger" onClick={remove}>
          {messages.delete} <VisuallyHidden>{messages.deleteAbout}</VisuallyHidden>
        </Button>
      </div>
    </>
  )
}
