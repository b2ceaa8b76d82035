import { useQuery } from '@tanstack/react-query'
import { servicesQuery } from './api.ts'

/** The words for a service's id, which is shown by itself until they are there. */
export function useLabels(): (service: string) => string {
  const { data: services } = useQuery(servicesQuery)
  return (id) => services?.find((service) => service.id === id)?.label ?? id
}
