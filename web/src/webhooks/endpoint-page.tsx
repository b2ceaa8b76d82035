import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { Page } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { endpointQuery } from './api.ts'
import { settings } from './messages.ts'

type EndpointPageProps = Omit<ComponentProps<typeof Page>, 'title' | 'above'> & {
  id: string
  title: (name: string) => string
}

/** A screen of one endpoint, with the way back to its requests. */
export function EndpointPage({ id, title, ...rest }: EndpointPageProps) {
  const { data: endpoint } = useQuery(endpointQuery(id))
  const name = endpoint ? endpoint.label || endpoint.token : settings.unnamed
  const above = (
    <BackLink to="/hooks/$id" params={{ id }}>
      {name}
    </BackLink>
  )
  return <Page {...rest} title={title(name)} above={above} />
}
