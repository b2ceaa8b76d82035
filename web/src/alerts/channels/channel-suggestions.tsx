import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Section } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { channelTypesQuery, type AlertChannelType } from '../api.ts'
import { suggestions as messages } from './messages.ts'
import { groupTypes } from './search-types.ts'

/** What to connect first, with the services of each kind, for a workspace with one channel. */
export function ChannelSuggestions() {
  const { data: types = [] } = useQuery(channelTypesQuery)
  return (
    <Section title={messages.title}>
      <p>{messages.lead}</p>
      <List>
        {groupTypes(types).map(({ group, types: services }) => {
          const suggestion = messages.groups[group]
          return (
            suggestion && (
              <ListItem key={group} title={suggestion.name}>
                {suggestion.text} <Services services={services} />
              </ListItem>
            )
          )
        })}
      </List>
    </Section>
  )
}

function Services({ services }: { services: AlertChannelType[] }) {
  return services.map(({ id, name }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      <Link to="/alerts/channels/new/$type" params={{ type: id }}>
        {name}
      </Link>
    </span>
  ))
}
