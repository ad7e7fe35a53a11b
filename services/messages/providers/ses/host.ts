/** The host of a service of AWS in a region. */
export function awsHost(service: 'email' | 'sns', region: string): string {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `${service}.${region}.${suffix}`;
}
