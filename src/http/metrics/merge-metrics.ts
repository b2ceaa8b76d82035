import { AggregatorRegistry, type Registry } from 'prom-client'

/** The metrics of a process, as it sends them to another. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The text of the metrics of several processes, which have the label `process`. */
export async function mergeMetrics(
  registry: Registry,
  others: readonly ProcessMetrics[],
): Promise<string> {
  const own = await registry.getMetricsAsJSON()
  // Every series has the label of its process, so that nothing is added up, omitted or averaged.
  const all = [own, ...others].map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: 'sum' })),
  )
  return AggregatorRegistry.aggregate(all).metrics()
}
