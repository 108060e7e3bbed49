using System;

namespace Plant
{
    /// <summary>A store.</summary>
    [Serializable]
    public partial class Store<T> : Base
        where T : class
    {
        public int Limit { get; set; }

        public T Get(string key)
        {
            return rows[@"\{"];
        }
    }
}
